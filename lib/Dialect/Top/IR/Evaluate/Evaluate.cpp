#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/FileTypes.h"
#include "pto_mlir/HostOps/TensorOps.h"
#include "pto_mlir/Support/PackedBits.h"

using namespace mlir;

namespace pto_mlir::top {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

void forEachOffset(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t base,
                   llvm::function_ref<void(int64_t)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t offset = base;
  while (true) {
    visit(offset);
    int64_t d = static_cast<int64_t>(shape.size()) - 1;
    for (; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

std::vector<int64_t> broadcastOffsets(ArrayRef<int64_t> shape, const Weight &operand) {
  SmallVector<int64_t> own = rowMajorStrides(operand.type.getShape()), strides(shape.size(), 0);
  size_t lead = shape.size() - own.size();
  for (auto [i, size] : llvm::enumerate(operand.type.getShape()))
    strides[lead + i] = size == 1 ? 0 : own[i];
  std::vector<int64_t> result;
  forEachOffset(shape, strides, 0, [&](int64_t offset) { result.push_back(offset); });
  return result;
}

// A constant as the host library reads it: elements of less than a byte, which take one in a weight, are packed.
static hostops::TensorView hostView(const Weight &operand, std::vector<std::vector<char>> &packed) {
  ElementType type = *fileElementType(operand.type.getElementType());
  const char *data = operand.bytes.data();
  if (isPacked(type)) {
    std::vector<char> &bytes = packed.emplace_back(operand.bytes.size());
    packBits(data, elementBits(type), operand.bytes.size(), bytes.data());
    data = bytes.data();
  }
  return {type, operand.type.getShape().vec(), reinterpret_cast<const std::byte *>(data)};
}

// By the library that the host program calls.
static std::optional<std::vector<char>> evaluateHost(StringRef kernel, DictionaryAttr attributes, RankedTensorType type,
                                                     ArrayRef<Weight> operands) {
  if (!fileElementType(type.getElementType()) ||
      llvm::any_of(operands, [](const Weight &operand) { return !fileElementType(operand.type.getElementType()); }))
    return std::nullopt;
  std::vector<hostops::TensorView> inputs;
  std::vector<std::vector<char>> packed;
  for (const Weight &operand : operands)
    inputs.push_back(hostView(operand, packed));
  hostops::Parameters parameters;
  if (attributes)
    for (NamedAttribute entry : attributes) {
      hostops::Parameter &value = parameters[entry.getName().str()];
      if (auto number = dyn_cast<IntegerAttr>(entry.getValue()))
        value = number.getInt();
      else if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
        value = number.getValueAsDouble();
      else if (auto text = dyn_cast<StringAttr>(entry.getValue()))
        value = text.str();
      else if (auto list = dyn_cast<DenseI64ArrayAttr>(entry.getValue()))
        value = list.asArrayRef().vec();
      else
        value = int64_t(isa<UnitAttr>(entry.getValue()));
    }
  std::vector<char> bytes(tensorBytes(type).value_or(0));
  auto allocate = [&](const std::vector<int64_t> &shape) -> std::byte * {
    return type.getShape() == ArrayRef(shape) ? reinterpret_cast<std::byte *>(bytes.data()) : nullptr;
  };
  if (!hostops::runTensorOp({kernel, inputs, parameters, *fileElementType(type.getElementType()), allocate}))
    return std::nullopt;
  if (ElementType made = *fileElementType(type.getElementType()); isPacked(made))
    bytes =
        unpackBits(bytes.data(), elementBits(made), made == ElementType::I4 || made == ElementType::I2, bytes.size());
  return bytes;
}

// ONNX has rules of its own for floats of 8 bits and elements of less.
static bool isNarrowCast(Operation *op) {
  if (!isa<CastOp>(op))
    return false;
  Type from = getElementTypeOrSelf(op->getOperand(0).getType()), to = getElementTypeOrSelf(op->getResult(0).getType());
  return isNarrowFloat(from) || (storageType(to).getIntOrFloatBitWidth() <= 8 && !to.isInteger(8) && !to.isInteger(1));
}

// A product of float constants (low-rank updates of weights, spectral norms) that takes no seconds, in which a run on
// the engines would be done.
static bool isSmallFloatProduct(MatMulOp product) {
  constexpr int64_t mostTerms = int64_t(1) << 31;
  auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
  auto left = cast<RankedTensorType>(product.getLhs().getType());
  int64_t terms = left.getShape().take_back(2)[product.getTransposeA() ? 0 : 1];
  return isFloat(product.getType()) && llvm::all_of(product->getOperandTypes(), isFloat) && terms != 0 &&
         product.getType().getNumElements() <= mostTerms / terms;
}

std::optional<Weight> evaluate(Operation *op) {
  if (!isa_and_nonnull<TopDialect>(op->getDialect()) || op->getNumResults() != 1 || op->getNumOperands() == 0)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<int64_t> size = tensorBytes(type);
  if (!size || *size > kMostComputedBytes)
    return std::nullopt;
  SmallVector<Weight> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Weight> weight = getConstant(operand);
    if (!weight)
      return std::nullopt;
    operands.push_back(std::move(*weight));
  }
  // The numbers of strings belong to a run.
  auto isString = [](Type tensor) { return isa<StringType>(getElementTypeOrSelf(tensor)); };
  if (llvm::any_of(op->getOperandTypes(), isString) || isString(type))
    return std::nullopt;
  // A reshape reuses the bytes with another type.
  if (isa<ReshapeOp>(op))
    return Weight{type, operands.front().bytes, operands.front().owner};
  auto host = dyn_cast<HostOp>(op);
  auto product = dyn_cast<MatMulOp>(op);
  if (product && !isSmallFloatProduct(product))
    return std::nullopt;
  bool isOfHost = product || isa<TopKValuesOp, TopKIndicesOp, GatherElementsOp, ScatterOp>(op) || isNarrowCast(op);
  std::optional<std::vector<char>> bytes =
      host       ? evaluateHost(host.getKernel(), host.getParametersAttr(), type, operands)
      : isOfHost ? evaluateHost(op->getName().stripDialect(), op->getAttrDictionary(), type, operands)
                 : evaluateMovement(op, operands);
  if ((host || isOfHost) && !bytes)
    return std::nullopt;
  for (auto *part : {evaluateLogic, evaluateReduction, evaluateBatchNorm, evaluateElementwise})
    if (!bytes)
      bytes = part(op, operands);
  if (!bytes)
    return std::nullopt;
  auto owner = std::make_shared<const std::vector<char>>(std::move(*bytes));
  return Weight{type, ArrayRef<char>(*owner), owner};
}

} // namespace pto_mlir::top
