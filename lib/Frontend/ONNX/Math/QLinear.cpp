// MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv: products of whole numbers, exact as floats: in f32 on the
// engines where no sum leaves its 24 bits, else in f64 on the host.
#include "../NN/Window.h"
#include "../Registry.h"
#include "Quantization.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// Whether whole numbers up to this magnitude are exact in f32.
static constexpr int64_t kExact = int64_t(1) << 24;
/// The most that a number of 8 bits is away from its zero point.
static constexpr int64_t kFarthest = 255;

Type exactType(Node &node, int64_t count, unsigned bias, bool hasBias) {
  int64_t most = count * kFarthest * kFarthest;
  bool fits = most < kExact;
  if (fits && hasBias) {
    std::optional<top::Weight> values = node.constant(bias);
    fits = values.has_value();
    for (int64_t value : values ? top::toInts(*values) : std::vector<int64_t>())
      fits &= value < kExact - most && value > most - kExact;
  }
  return fits ? Type(node.builder().getF32Type()) : Type(node.builder().getF64Type());
}

Value centred(Node &node, unsigned i, unsigned zero, Type type, int64_t axis) {
  Value value = castTo(node, node.input(i), type);
  if (!node.has(zero))
    return value;
  Value point = castTo(node, alongAxis(node, zero, node.type(i).getRank(), axis), type);
  return value && point ? node.create<top::SubOp>("", {value, point}) : Value();
}

Value vectorProduct(Node &node, Value x, Value y) {
  if (!x || !y)
    return {};
  auto left = cast<RankedTensorType>(x.getType()), right = cast<RankedTensorType>(y.getType());
  if (left.getRank() == 1)
    x = node.reshape("", x, {1, left.getDimSize(0)});
  if (right.getRank() == 1)
    y = node.reshape("", y, {right.getDimSize(0), 1});
  Value product = x && y ? node.create<top::MatMulOp>("", {x, y}) : Value();
  if (!product || (left.getRank() > 1 && right.getRank() > 1))
    return product;
  SmallVector<int64_t> shape(cast<RankedTensorType>(product.getType()).getShape());
  if (right.getRank() == 1)
    shape.pop_back();
  if (left.getRank() == 1)
    shape.erase(shape.end() - (right.getRank() == 1 ? 1 : 2));
  return node.reshape("", product, shape);
}

namespace {

/// The sums in units of the result's scale, as onnxruntime has them: by the product of the operands' scales over it.
Value rescaled(Node &node, Value sums, Value first, Value second, unsigned result) {
  Formula f(node);
  Type wide = node.builder().getF32Type();
  Value scale = castTo(node, alongAxis(node, result, 1, 0), wide);
  first = castTo(node, first, wide), second = castTo(node, second, wide);
  if (!sums || !first || !second || !scale)
    return {};
  return f.of<top::MulOp>(castTo(node, sums, wide), f.of<top::DivOp>(f.of<top::MulOp>(first, second), scale));
}

/// a x b without their zero points, in an exact type.
Value integerProduct(Node &node, unsigned b, unsigned aZero, unsigned bZero) {
  RankedTensorType left = node.type(0), right = node.type(b);
  if (left.getRank() < 1 || right.getRank() < 1)
    return (void)node.error("takes matrices"), Value();
  Type type = exactType(node, left.getShape().back(), 0, false);
  int64_t rows = std::max<int64_t>(left.getRank() - 2, 0), columns = right.getRank() - 1;
  return vectorProduct(node, centred(node, 0, aZero, type, rows), centred(node, b, bZero, type, columns));
}

LogicalResult importMatMulInteger(Node &node) {
  Type to = node.builder().getI32Type();
  return node.finish(castTo(node, integerProduct(node, 1, 2, 3), to, node.outputName()));
}

LogicalResult importQLinearMatMul(Node &node) {
  Value sums = integerProduct(node, 3, 2, 5);
  if (!sums)
    return failure();
  int64_t left = node.type(0).getRank(), right = node.type(3).getRank();
  Value scaled = rescaled(node, sums, alongAxis(node, 1, left, std::max<int64_t>(left - 2, 0)),
                          alongAxis(node, 4, right, right - 1), 6);
  Value zero = alongAxis(node, 7, 1, 0);
  return node.finish(scaled && zero ? roundTo(node, scaled, zero, node.type(7).getElementType(), node.outputName())
                                    : Value());
}

/// The convolution of input 0 with input `filter` without their zero points, and with the bias (input 8) where there is
/// one. `isLast`: input 0 has its channels last; the result has them first.
Value integerConv(Node &node, unsigned filter, unsigned xZero, unsigned wZero, bool hasBias, bool isLast = false) {
  RankedTensorType input = node.type(0), weights = node.type(filter);
  if (input.getRank() < 3 || weights.getRank() != input.getRank())
    return (void)node.error("takes an input of rank 3 and more and a filter of the same rank"), Value();
  ArrayRef<int64_t> kernel = weights.getShape().drop_front(2);
  if (std::optional<SmallVector<int64_t>> given = node.intsAttr("kernel_shape");
      given && ArrayRef<int64_t>(*given) != kernel)
    return (void)node.error("attribute 'kernel_shape' differs from the filter's shape"), Value();
  int64_t group = node.intAttr("group", 1);
  std::optional<Window> window = readWindow(node, kernel, /*hasDilations=*/true, isLast ? 1 : 2);
  if (!window)
    return {};
  Type type = exactType(node, ShapedType::getNumElements(weights.getShape().drop_front()), 8, hasBias);
  Value x = centred(node, 0, xZero, type, isLast ? input.getRank() - 1 : 1), w = centred(node, filter, wZero, type, 0);
  if (x && isLast)
    x = channelsFirst(node, "", x);
  Value sums = x && w
                   ? node.create<top::ConvOp>("", {x, w},
                                              {node.i64s("strides", window->strides), node.i64s("pads", window->pads),
                                               node.i64s("dilations", window->dilations), node.i64("group", group)})
                   : Value();
  if (!sums || !hasBias)
    return sums;
  Value bias = castTo(node, alongAxis(node, 8, input.getRank(), 1), type);
  return bias ? node.create<top::AddOp>("", {sums, bias}) : Value();
}

LogicalResult importConvInteger(Node &node) {
  Type to = node.builder().getI32Type();
  return node.finish(castTo(node, integerConv(node, 1, 2, 3, false), to, node.outputName()));
}

LogicalResult qlinearConv(Node &node, bool isLast) {
  Value sums = integerConv(node, 3, 2, 5, node.has(8), isLast);
  if (!sums)
    return failure();
  int64_t rank = node.type(0).getRank();
  Value scaled = rescaled(node, sums, alongAxis(node, 1, rank, 1), alongAxis(node, 4, rank, 1), 6);
  Value zero = alongAxis(node, 7, 1, 0);
  if (!scaled || !zero)
    return failure();
  Value result = roundTo(node, scaled, zero, node.type(7).getElementType(), isLast ? "" : node.outputName());
  return node.finish(result && isLast ? channelsLast(node, node.outputName(), result) : result);
}

LogicalResult importQLinearConv(Node &node) { return qlinearConv(node, false); }
/// onnxruntime's, which its optimiser makes for machines that want the channels last.
LogicalResult importContribQLinearConv(Node &node) { return qlinearConv(node, node.intAttr("channels_last", 0) != 0); }

} // namespace

void registerQLinear(Registry &registry) {
  registry.add("MatMulInteger", {10, kMaxOpset, 2, 4, exactly<importMatMulInteger>});
  registry.add("ConvInteger", {10, kMaxOpset, 2, 4, exactly<importConvInteger>});
  registry.add("QLinearMatMul", {10, kMaxOpset, 8, 8, exactly<importQLinearMatMul>});
  registry.add("QLinearConv", {10, kMaxOpset, 8, 9, exactly<importQLinearConv>});
  registry.add("com.microsoft.QLinearConv", {1, 1, 8, 9, exactly<importContribQLinearConv>});
}

} // namespace pto_mlir::onnx
