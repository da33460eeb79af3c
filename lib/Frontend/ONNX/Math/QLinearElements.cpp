// QLinear operators of com.microsoft on elements, pools and rows, with the roundings of onnxruntime's kernels: whole
// numbers to f32, the function, and back.
#include "../NN/Window.h"
#include "../Registry.h"
#include "Quantization.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace qlinear {
namespace {

/// A scale and a zero point as scalars of f32.
struct Scale {
  Value scale, zero;
};

/// Inputs `i` and, where the node has it, `i + 1`. Nulls after an error.
Scale readScale(Node &node, unsigned i) {
  Formula f(node);
  Type wide = node.builder().getF32Type();
  for (unsigned input : {i, i + 1})
    if (node.has(input) && node.type(input).getNumElements() != 1)
      return (void)node.error("takes scales and zero points of one number"), Scale();
  if (!node.has(i))
    return (void)node.error("input " + Twine(i) + " (a scale) is missing"), Scale();
  Value scale = castTo(node, node.reshape("", node.input(i), {}), wide);
  Value zero = node.has(i + 1) ? castTo(node, node.reshape("", node.input(i + 1), {}), wide) : f.constant(scale, 0);
  return {scale, zero};
}

Value wide(Node &node, unsigned i) {
  if (!node.has(i))
    return (void)node.error("input " + Twine(i) + " is missing"), Value();
  return castTo(node, node.input(i), node.builder().getF32Type());
}

Value dequantised(Node &node, unsigned i, const Scale &own) {
  Formula f(node);
  Value value = wide(node, i);
  return value && own.zero ? f.of<top::MulOp>(f.of<top::SubOp>(value, own.zero), own.scale) : Value();
}

/// The nearest whole numbers of `value`, whose zero point is in it, saturated to the type of input `like`.
LogicalResult rounded(Node &node, Value value, unsigned like) {
  Value whole = value ? roundTo(node, value, Value(), node.type(like).getElementType(), node.outputName()) : value;
  return node.finish(whole);
}

/// The nearest whole numbers of `value` over the scale, and the zero point.
Value requantised(Node &node, Value value, const Scale &to, unsigned like, StringRef name) {
  Formula f(node);
  if (!value || !to.zero)
    return {};
  return roundTo(node, f.of<top::DivOp>(value, to.scale), to.zero, node.type(like).getElementType(), name);
}

/// a b + c with one rounding, for whole numbers `a` of 8 bits: the product's rounding error, and that of the sum, are
/// added to the sum (error-free transformations by T. Dekker and D. Knuth).
Value fused(Formula &f, Value a, Value b, Value c) {
  if (!a || !b || !c)
    return {};
  Value grown = f.of<top::MulOp>(b, 257.0), high = f.of<top::SubOp>(grown, f.of<top::SubOp>(grown, b));
  Value low = f.of<top::SubOp>(b, high); // 16 and 8 bits: exact products
  Value first = f.of<top::MulOp>(a, high), second = f.of<top::MulOp>(a, low);
  Value product = f.of<top::AddOp>(first, second);
  Value rest = f.of<top::AddOp>(f.of<top::SubOp>(first, product), second);
  Value sum = f.of<top::AddOp>(product, c), part = f.of<top::SubOp>(sum, product);
  Value lost = f.of<top::AddOp>(f.of<top::SubOp>(product, f.of<top::SubOp>(sum, part)), f.of<top::SubOp>(c, part));
  return f.of<top::AddOp>(sum, f.of<top::AddOp>(lost, rest));
}

LogicalResult importAdd(Node &node) {
  Formula f(node);
  Scale a = readScale(node, 1), b = readScale(node, 4), c = readScale(node, 6);
  if (!a.zero || !b.zero || !c.zero)
    return failure();
  Value left = f.of<top::DivOp>(a.scale, c.scale), right = f.of<top::DivOp>(b.scale, c.scale);
  Value zeros = fused(f, a.zero, left, f.of<top::MulOp>(right, b.zero));
  Value fixed = zeros ? f.of<top::SubOp>(c.zero, zeros) : zeros;
  Value sum = fused(f, wide(node, 0), left, fused(f, wide(node, 3), right, fixed));
  return rounded(node, sum, 0);
}

LogicalResult importMul(Node &node) {
  Formula f(node);
  Scale a = readScale(node, 1), b = readScale(node, 4), c = readScale(node, 6);
  if (!a.zero || !b.zero || !c.zero)
    return failure();
  Value left = f.of<top::SubOp>(wide(node, 0), a.zero), right = f.of<top::SubOp>(wide(node, 3), b.zero);
  Value ratio = f.of<top::DivOp>(f.of<top::MulOp>(a.scale, b.scale), c.scale);
  Value product = left && right ? f.of<top::MulOp>(f.of<top::MulOp>(left, right), ratio) : Value();
  return rounded(node, product ? f.of<top::AddOp>(product, c.zero) : product, 0);
}

LogicalResult importSigmoid(Node &node) {
  Formula f(node);
  Scale x = readScale(node, 1), y = readScale(node, 3);
  return node.finish(requantised(node, f.of<top::SigmoidOp>(dequantised(node, 0, x)), y, 0, node.outputName()));
}

LogicalResult importLeakyRelu(Node &node) {
  Formula f(node);
  double alpha = node.floatAttr("alpha", 0.01f);
  Scale x = readScale(node, 1), y = readScale(node, 3);
  Value value = dequantised(node, 0, x);
  value = f.where(f.compare(value, "ge", 0.0), value, f.of<top::MulOp>(value, alpha));
  return node.finish(requantised(node, value, y, 0, node.outputName()));
}

/// exp(x - the greatest x) over their sum; before opset 13 over all dimensions from the axis on.
LogicalResult importSoftmax(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t opset = node.intAttr("opset", 13);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", opset < 13 ? 1 : -1), type.getRank());
  if (!axis)
    return failure();
  Formula f(node);
  Scale x = readScale(node, 1), y = readScale(node, 3);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(*axis, opset < 13 ? type.getRank() : *axis + 1));
  Value whole = wide(node, 0);
  Value apart = whole && x.scale ? f.of<top::SubOp>(whole, f.over<top::ReduceMaxOp>(whole, axes)) : Value();
  Value power = apart ? f.of<top::ExpOp>(f.of<top::MulOp>(apart, x.scale)) : apart;
  if (!power || !y.scale)
    return failure();
  Value units = f.of<top::FloorOp>(f.of<top::DivOp>(f.constant(y.scale, 1), y.scale));
  Value share = f.of<top::DivOp>(f.of<top::MulOp>(power, units), f.over<top::ReduceSumOp>(power, axes));
  return node.finish(share ? roundTo(node, share, y.zero, type.getElementType(), node.outputName()) : share);
}

LogicalResult importConcat(Node &node) {
  if (node.numInputs() < 5 || (node.numInputs() - 2) % 3 != 0)
    return node.error("takes a scale and a zero point of the result, and three inputs for each part");
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(2).getRank());
  Scale to = readScale(node, 0);
  if (!axis || !to.zero)
    return failure();
  SmallVector<Value> parts;
  for (unsigned i = 2; i + 2 < node.numInputs(); i += 3) {
    if (!node.has(i))
      return node.error("input " + Twine(i) + " is missing");
    parts.push_back(requantised(node, dequantised(node, i, readScale(node, i + 1)), to, 1, ""));
    if (!parts.back())
      return failure();
  }
  return node.result<top::ConcatOp>(parts, {node.i64("axis", *axis)});
}

LogicalResult importWhere(Node &node) {
  Formula f(node);
  Scale x = readScale(node, 2), y = readScale(node, 5), z = readScale(node, 7);
  Value yes = requantised(node, dequantised(node, 1, x), z, 1, ""),
        no = requantised(node, dequantised(node, 4, y), z, 1, "");
  return yes && no ? f.choose(node.input(0), yes, no) : failure();
}

//===-- Pools -------------------------------------------------------------===//

LogicalResult importGlobalPool(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  if (rank < 3)
    return node.error("takes an input of rank 3 and more");
  bool isLast = node.intAttr("channels_last", 0) != 0;
  SmallVector<int64_t> axes = llvm::to_vector(isLast ? llvm::seq<int64_t>(1, rank - 1) : llvm::seq<int64_t>(2, rank));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= type.getDimSize(axis);
  if (count > (1 << 16)) // sums of up to 24 bits
    return node.error("takes images of at most 65536 pixels");
  Formula f(node);
  Scale x = readScale(node, 1), y = readScale(node, 3);
  Value whole = wide(node, 0);
  if (!whole || !x.zero || !y.zero)
    return failure();
  Value sum = f.over<top::ReduceSumOp>(f.of<top::SubOp>(whole, x.zero), axes);
  Value ratio = f.of<top::DivOp>(x.scale, f.of<top::MulOp>(y.scale, double(count)));
  Value mean = sum && ratio ? f.of<top::MulOp>(sum, ratio) : Value();
  return node.finish(mean ? roundTo(node, mean, y.zero, type.getElementType(), node.outputName()) : mean);
}

LogicalResult importAveragePool(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::optional<SmallVector<int64_t>> kernel = node.intsAttr("kernel_shape");
  if (rank < 3 || !kernel || int64_t(kernel->size()) != rank - 2)
    return node.error("takes an input of rank 3 and more and a 'kernel_shape' of its spatial dimensions");
  bool isLast = node.intAttr("channels_last", 0) != 0;
  bool ceil = node.intAttr("ceil_mode", 0) != 0, countsPad = node.intAttr("count_include_pad", 0) != 0;
  std::optional<Window> window = readWindow(node, *kernel, /*hasDilations=*/false, isLast ? 1 : 2);
  Scale x = readScale(node, 1), y = readScale(node, 3);
  if (!window || !x.zero || !y.zero)
    return failure();
  Formula f(node);
  Value value = dequantised(node, 0, x);
  value = isLast ? channelsFirst(node, "", value) : value;
  value = f.of<top::AvgPoolOp>(value, {node.i64s("kernel", *kernel), node.i64s("strides", window->strides),
                                       node.i64s("pads", window->pads), node.i64s("dilations", window->dilations),
                                       node.flag("ceil_mode", ceil), node.flag("count_include_pad", countsPad)});
  value = isLast ? channelsLast(node, "", value) : value;
  value = value ? f.of<top::DivOp>(value, y.scale) : value;
  return rounded(node, value ? f.of<top::AddOp>(value, y.zero) : value, 0);
}

} // namespace
} // namespace qlinear

// Zero points may be left out in the middle.
void registerQLinearElements(Registry &registry) {
  registry.add("com.microsoft.QLinearAdd", {1, 1, 1, 8, exactly<qlinear::importAdd>});
  registry.add("com.microsoft.QLinearMul", {1, 1, 1, 8, exactly<qlinear::importMul>});
  registry.add("com.microsoft.QLinearSigmoid", {1, 1, 1, 5, exactly<qlinear::importSigmoid>});
  registry.add("com.microsoft.QLinearLeakyRelu", {1, 1, 1, 5, exactly<qlinear::importLeakyRelu>});
  registry.add("com.microsoft.QLinearSoftmax", {1, 1, 1, 5, exactly<qlinear::importSoftmax>});
  registry.add("com.microsoft.QLinearConcat", {1, 1, 5, kVariadic, exactly<qlinear::importConcat>});
  registry.add("com.microsoft.QLinearWhere", {1, 1, 1, 9, exactly<qlinear::importWhere>});
  registry.add("com.microsoft.QLinearGlobalAveragePool", {1, 1, 1, 5, exactly<qlinear::importGlobalPool>});
  registry.add("com.microsoft.QLinearAveragePool", {1, 1, 1, 5, exactly<qlinear::importAveragePool>});
}

} // namespace pto_mlir::onnx
