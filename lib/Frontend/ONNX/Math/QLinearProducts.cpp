// Products of com.microsoft with floats on one side: MatMulIntegerToFloat, DynamicQuantizeMatMul, QGemm, MatMulNBits.
#include "../Registry.h"
#include "Quantization.h"

using namespace mlir;

namespace pto_mlir::onnx {
std::pair<Value, Value> dynamicallyQuantised(Node &node, Value x) {
  Formula f(node);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(x.getType()).getRank()));
  auto end = [&](auto of) {
    Value value = node.create<decltype(of)>("", x, {node.i64s("axes", axes), node.flag("keepdims", false)});
    return value;
  };
  Value least = f.of<top::MinOp>(end(top::ReduceMinOp()), 0.0), most = f.of<top::MaxOp>(end(top::ReduceMaxOp()), 0.0);
  Value range = f.of<top::DivOp>(f.of<top::SubOp>(most, least), 255.0);
  if (!range)
    return {};
  Value scale = f.where(f.compare(range, "eq", 0.0), f.constant(range, 1), range);
  Value zero = f.of<top::DivOp>(f.of<top::NegOp>(least), scale);
  zero = f.of<top::RoundOp>(f.of<top::ClipOp>(zero, {node.f64("min", 0), node.f64("max", 255)}));
  Value whole = f.of<top::AddOp>(f.of<top::RoundOp>(f.of<top::DivOp>(x, scale)), zero);
  whole = f.of<top::ClipOp>(whole, {node.f64("min", 0), node.f64("max", 255)});
  return {whole ? f.of<top::SubOp>(whole, zero) : whole, scale};
}

namespace qlinear_products {
namespace {

/// sums scale + input `bias`, where the node has it, as output 0.
LogicalResult scaled(Node &node, Value sums, Value scale, unsigned bias) {
  Formula f(node);
  Type wide = node.builder().getF32Type();
  if (!sums || !scale)
    return failure();
  sums = castTo(node, sums, wide);
  Type to = node.type(1).getElementType();
  to = isa<FloatType>(to) ? to : wide;
  bool hasBias = node.has(bias);
  Value value = node.create<top::MulOp>(hasBias ? "" : node.outputName(), {sums, scale});
  if (hasBias && value)
    value = node.create<top::AddOp>(node.outputName(), {value, castTo(node, node.input(bias), wide)});
  return node.finish(value);
}

LogicalResult importMatMulIntegerToFloat(Node &node) {
  enum Input { kA, kB, kScaleA, kScaleB, kZeroA, kZeroB, kBias };
  RankedTensorType a = node.type(kA), b = node.type(kB);
  if (a.getRank() < 1 || b.getRank() < 1 || !node.type(kScaleA).getElementType().isF32())
    return node.error("takes matrices and scales of f32");
  Formula f(node);
  Type type = exactType(node, a.getShape().back(), 0, false);
  int64_t rows = std::max<int64_t>(a.getRank() - 2, 0), columns = b.getRank() - 1;
  Value sums = vectorProduct(node, centred(node, kA, kZeroA, type, rows), centred(node, kB, kZeroB, type, columns));
  Value left = alongAxis(node, kScaleA, a.getRank(), rows), right = alongAxis(node, kScaleB, b.getRank(), columns);
  return scaled(node, sums, left && right ? f.of<top::MulOp>(left, right) : Value(), kBias);
}

LogicalResult importDynamicQuantizeMatMul(Node &node) {
  enum Input { kA, kB, kScale, kZero, kBias };
  RankedTensorType a = node.type(kA), b = node.type(kB);
  if (a.getRank() < 1 || b.getRank() < 1 || !a.getElementType().isF32())
    return node.error("takes matrices, the first one of f32");
  Formula f(node);
  Type type = exactType(node, a.getShape().back(), 0, false);
  auto [x, step] = dynamicallyQuantised(node, node.input(kA));
  Value sums = vectorProduct(node, castTo(node, x, type), centred(node, kB, kZero, type, b.getRank() - 1));
  Value scale = alongAxis(node, kScale, b.getRank(), b.getRank() - 1);
  return scaled(node, sums, step && scale ? f.of<top::MulOp>(step, scale) : Value(), kBias);
}

/// alpha (A - a)(B - b) scaleA scaleB + C, in whole numbers of the result's scale where it has one.
LogicalResult importGemm(Node &node) {
  enum Input { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kC, kScale, kZero };
  RankedTensorType a = node.type(kA), b = node.type(kB);
  double alpha = node.floatAttr("alpha", 1);
  bool transA = node.intAttr("transA", 0) != 0, transB = node.intAttr("transB", 0) != 0;
  if (a.getRank() != 2 || b.getRank() != 2 || node.type(kScaleA).getNumElements() != 1)
    return node.error("takes matrices and one scale for the first");
  Type type = exactType(node, a.getDimSize(transA ? 0 : 1), kC, node.has(kC)), wide = node.builder().getF32Type();
  int64_t column = transB ? 0 : 1;
  Formula f(node);
  Value x = centred(node, kA, kZeroA, type, 0), y = centred(node, kB, kZeroB, type, column);
  Value sums = x && y ? node.create<top::MatMulOp>("", {x, y},
                                                   {node.flag("transpose_a", transA), node.flag("transpose_b", transB)})
                      : Value();
  if (sums && node.has(kC)) {
    Type shape = sums.getType();
    sums = f.of<top::AddOp>(sums, castTo(node, node.input(kC), type));
    if (sums && sums.getType() != shape)
      return node.error("C does not broadcast to the product's shape");
  }
  sums = castTo(node, sums, wide);
  Value scale = f.of<top::MulOp>(node.reshape("", node.input(kScaleA), {}), alongAxis(node, kScaleB, 2, 1));
  scale = alpha == 1 ? scale : f.of<top::MulOp>(scale, alpha);
  if (!sums || !scale)
    return failure();
  if (!node.has(kScale))
    return f.result<top::MulOp>(sums, scale);
  if (!node.has(kZero) || node.type(kScale).getNumElements() != 1)
    return node.error("has a scale of the result and no zero point, or several");
  scale = f.of<top::DivOp>(scale, node.reshape("", node.input(kScale), {}));
  Value zero = alongAxis(node, kZero, 1, 0), value = scale ? f.of<top::MulOp>(sums, scale) : scale;
  return node.finish(zero && value ? roundTo(node, value, zero, node.type(kZero).getElementType(), node.outputName())
                                   : Value());
}

//===-- MatMulNBits -------------------------------------------------------===//

/// Number `i` of those packed in bytes, the first in the lowest bits.
int64_t unpacked(ArrayRef<char> bytes, int64_t i, int64_t bits) {
  int64_t perByte = 8 / bits;
  return uint8_t(bytes[i / perByte]) >> (i % perByte * bits) & ((1 << bits) - 1);
}

struct NBits {
  int64_t rows, depth, bits, block, blocks;

  /// The zero points of the blocks: floats, or numbers packed row by row; nullopt if they do not fit.
  std::optional<std::vector<double>> zeros(const std::optional<top::Weight> &given) const {
    std::vector<double> values(rows * blocks, double(1 << (bits - 1)));
    if (!given)
      return values;
    if (isa<FloatType>(given->type.getElementType())) {
      if (given->type.getNumElements() != rows * blocks)
        return std::nullopt;
      return top::toDoubles(*given);
    }
    int64_t bytesOfRow = llvm::divideCeil(blocks * bits, 8);
    if (int64_t(given->bytes.size()) != rows * bytesOfRow)
      return std::nullopt;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < blocks; ++i)
        values[row * blocks + i] = double(unpacked(given->bytes.slice(row * bytesOfRow, bytesOfRow), i, bits));
    return values;
  }
};

/// The weights are constants; they are unpacked once.
LogicalResult importMatMulNBits(Node &node) {
  enum Input { kA, kB, kScales, kZeros, kIndex, kBias };
  NBits n{node.intAttr("N", 0), node.intAttr("K", 0), node.intAttr("bits", 4), node.intAttr("block_size", 0), 0};
  node.intAttr("accuracy_level", 0); // the least that is wanted
  Type element = node.type(kA).getElementType();
  if (node.has(kIndex) || node.intAttr("weight_prepacked", 0) != 0)
    return node.error("'g_idx' and prepacked weights are not supported");
  if (n.rows < 1 || n.depth < 1 || n.block < 1 || n.rows > INT32_MAX || n.depth > INT32_MAX || n.block > INT32_MAX ||
      (n.bits != 2 && n.bits != 4 && n.bits != 8) || n.block * n.bits % 8 || node.type(kA).getRank() < 1 ||
      node.type(kA).getShape().back() != n.depth || !isa<FloatType>(element))
    return node.error("takes floats [.., K] and weights of 2, 4 or 8 bits in blocks of whole bytes");
  n.blocks = llvm::divideCeil(n.depth, n.block);
  std::optional<top::Weight> packed = node.constant(kB), scales = node.constant(kScales), zeros;
  if (node.has(kZeros))
    zeros = node.constant(kZeros);
  if (!packed || !scales || (node.has(kZeros) && !zeros))
    return node.error("weights, scales and zero points must be constants");
  int64_t bytesOfBlock = n.block * n.bits / 8;
  bool fits = n.rows <= INT32_MAX / n.blocks && int64_t(packed->bytes.size()) == n.rows * n.blocks * bytesOfBlock &&
              scales->type.getNumElements() == n.rows * n.blocks;
  std::optional<std::vector<double>> origins;
  if (fits)
    origins = n.zeros(zeros);
  if (!origins)
    return node.error("weights, scales or zero points do not have the sizes that N, K and block_size ask for");
  std::vector<double> steps = top::toDoubles(*scales), weights;
  weights.reserve(n.rows * n.depth);
  for (int64_t row = 0; row < n.rows; ++row)
    for (int64_t i = 0; i < n.depth; ++i) {
      int64_t at = row * n.blocks + i / n.block;
      double number = double(unpacked(packed->bytes.slice(at * bytesOfBlock, bytesOfBlock), i % n.block, n.bits));
      weights.push_back((number - (*origins)[at]) * steps[at]);
    }
  OpBuilder &b = node.builder();
  SmallVector<Value> operands{node.input(kA),
                              top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_weights").str(),
                                                  RankedTensorType::get({n.rows, n.depth}, element),
                                                  top::fromDoubles(element, weights))};
  if (node.has(kBias))
    operands.push_back(node.input(kBias));
  return node.result<top::MatMulOp>(operands, {node.flag("transpose_b", true)});
}

} // namespace
} // namespace qlinear_products

void registerQLinearProducts(Registry &registry) {
  registry.add("com.microsoft.MatMulIntegerToFloat",
               {1, 1, 4, 7, exactly<qlinear_products::importMatMulIntegerToFloat>});
  registry.add("com.microsoft.DynamicQuantizeMatMul",
               {1, 1, 3, 5, exactly<qlinear_products::importDynamicQuantizeMatMul>});
  registry.add("com.microsoft.QGemm", {1, 1, 6, 9, exactly<qlinear_products::importGemm>});
  registry.add("com.microsoft.MatMulNBits", {1, 1, 3, 6, qlinear_products::importMatMulNBits});
}

} // namespace pto_mlir::onnx
