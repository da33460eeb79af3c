//===- PackWeights.cpp - packed filters of a module's launches ------------===//

#include "PackWeights.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"
#include "pto_mlir/Kernels/Requantise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace pto_mlir::cube {

namespace {

/// The row-major bytes of a constant, splats written out.
std::vector<char> bytesOf(DenseElementsAttr constant) {
  ArrayRef<char> raw = constant.getRawData();
  if (!constant.isSplat())
    return {raw.begin(), raw.end()};
  std::vector<char> bytes;
  bytes.reserve(raw.size() * constant.getNumElements());
  for (int64_t i = 0; i < constant.getNumElements(); ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

} // namespace

LogicalResult WeightPacker::pack(top::LaunchOp launch, const Contraction &contraction) {
  const FilterShape &shape = *contraction.packFilter;
  unsigned bytes = contraction.problem.inBytes;
  OpOperand &operand = launch->getOpOperand(contraction.right.arg);
  Value source = operand.get();
  // Reshapes do not move a contiguous filter.
  while (Operation *op = source.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    source = op->getOperand(0);
  }

  std::string name;
  std::vector<char> owned;
  ArrayRef<char> data;
  DenseElementsAttr constant;
  if (auto weight = source.getDefiningOp<top::WeightOp>()) {
    name = weight.getName().str();
    const top::Weight *entry = store.lookup(name);
    if (!entry)
      return weight.emitOpError("is not in the weight store");
    data = entry->bytes;
  } else if (matchPattern(source, m_Constant(&constant))) {
    name = launch.getKernel().str() + ".filter";
    owned = bytesOf(constant);
    data = owned;
  } else {
    return launch.emitOpError("has a filter that is computed at run time; a "
                              "convolution's filter must be a constant");
  }
  int64_t elements = shape.groups * shape.features * shape.kernelH * shape.kernelW * shape.channels;
  if (static_cast<int64_t>(data.size()) != elements * bytes)
    return launch.emitOpError("has a filter of ") << data.size() << " bytes, expected " << elements * bytes;

  auto type =
      RankedTensorType::get({shape.groups * packedRows(shape, bytes), shape.features}, contraction.right.element);
  std::string key = llvm::formatv("{0}/{1}/{2}x{3}x{4}x{5}x{6}", name,
                                  contraction.filterLayout == FilterLayout::HWCF ? "hwcf" : "gfhwc", shape.groups,
                                  shape.kernelH, shape.kernelW, shape.channels, shape.features);
  std::string &packedName = packed[key];
  if (packedName.empty() || constant) {
    std::vector<uint8_t> result =
        packFilter(reinterpret_cast<const uint8_t *>(data.data()), shape, contraction.filterLayout, bytes);
    packedName = store.add(name + ".img2col", type, std::vector<char>(result.begin(), result.end()));
  }
  OpBuilder b(launch);
  operand.set(b.create<top::WeightOp>(source.getLoc(), type, packedName));
  return success();
}

LogicalResult WeightPacker::packScales(top::LaunchOp launch, const Contraction &contraction) {
  OpOperand &operand = launch->getOpOperand(contraction.scales->arg);
  std::optional<top::Weight> scales = top::getConstant(operand.get());
  if (!scales)
    return launch.emitOpError("has scales that are computed at run time; those of a cube kernel must be constants");
  std::vector<int64_t> descriptors;
  for (double scale : top::toDoubles(*scales)) {
    if (!fitsColumnScale(static_cast<float>(scale)))
      return launch.emitOpError("has a column with scale ")
             << scale << ", of which the fixpipe's buffer would cut digits; it holds 11 significant bits";
    descriptors.push_back(
        static_cast<int64_t>(quantDescriptor(static_cast<float>(scale), contraction.epilogue.offset)));
  }
  OpBuilder b(launch);
  auto type = RankedTensorType::get(scales->type.getShape(), contraction.scales->element);
  std::string name = store.add("descriptors", type, top::fromInts(type.getElementType(), descriptors));
  operand.set(b.create<top::WeightOp>(launch.getLoc(), type, name));
  return success();
}

} // namespace pto_mlir::cube
