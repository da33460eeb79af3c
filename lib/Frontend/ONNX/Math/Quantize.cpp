// QuantizeLinear and DequantizeLinear: a scale and a zero point for the tensor, for each index of an axis or for each
// block of it. Computed in f32, as onnxruntime does, whatever the type of the scale.
#include "../Registry.h"
#include "../TensorDecoder.h"
#include "Quantization.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::onnx {

Value alongAxis(Node &node, unsigned i, int64_t rank, int64_t axis) {
  RankedTensorType type = node.type(i);
  if (type.getNumElements() == 1)
    return node.reshape("", node.input(i), {});
  if (type.getRank() == rank && rank != 1)
    return node.input(i);
  if (type.getRank() != 1 || axis < 0 || axis >= rank)
    return (void)node.error("scales and zero points are one number, or one for each index of an axis"), Value();
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = type.getDimSize(0);
  return node.reshape("", node.input(i), shape);
}

Value roundTo(Node &node, Value scaled, Value zero, Type to, StringRef name) {
  if (!to.isInteger() || to.getIntOrFloatBitWidth() > 32)
    return (void)node.error("numbers are quantised to integers of at most 32 bits"), Value();
  Formula f(node);
  Value whole = f.of<top::RoundOp>(scaled);
  if (zero && whole)
    whole = f.of<top::AddOp>(whole, castTo(node, zero, getElementTypeOrSelf(whole.getType())));
  unsigned bits = to.getIntOrFloatBitWidth() - (to.isUnsignedInteger() ? 0 : 1);
  double most = double(int64_t(1) << bits) - 1, least = to.isUnsignedInteger() ? 0 : -most - 1;
  if (whole)
    whole = node.create<top::ClipOp>("", whole, {node.f64("min", least), node.f64("max", most)});
  return castTo(node, whole, to, name);
}

namespace {

struct Scales {
  int64_t axis = 0, block = 0;
  Value scale, zero; ///< of shapes that broadcast to x; zero may be null
};

// Input `i`, a value for each block, with each repeated for the elements of its block.
Value repeated(Node &node, unsigned i, int64_t axis, int64_t block) {
  ArrayRef<int64_t> x = node.type(0).getShape(), own = node.type(i).getShape();
  SmallVector<int64_t> shape(x), open(own), all(own);
  // A block beyond the input's extent is the whole extent.
  block = std::clamp<int64_t>(block, 1, std::max<int64_t>(x[axis], 1));
  shape[axis] = own.empty() ? 0 : ceilDiv(x[axis], block);
  if (ArrayRef<int64_t>(shape) != own)
    return (void)node.error("blocked scales and zero points have the input's shape, divided by block_size"), Value();
  open.insert(open.begin() + axis + 1, 1);
  all.insert(all.begin() + axis + 1, block);
  Value value = node.reshape("", node.input(i), open);
  value = node.create<top::ExpandOp>("", value, {node.i64s("shape", all)});
  shape[axis] *= block;
  value = value ? node.reshape("", value, shape) : value;
  if (!value || shape[axis] == x[axis])
    return value;
  SmallVector<int64_t> starts(x.size(), 0), steps(x.size(), 1);
  return node.create<top::SliceOp>("", value,
                                   {node.i64s("starts", starts), node.i64s("ends", x), node.i64s("steps", steps)});
}

// Reads axis, block size, scale and zero point; nullopt after an error.
std::optional<Scales> readScales(Node &node) {
  int64_t rank = node.type(0).getRank();
  Scales result;
  bool isContrib = node.opset() == 1; // of com.microsoft
  int64_t given = node.opset() >= 13 || isContrib ? node.intAttr("axis", 1) : 1;
  result.block = node.opset() >= 21 ? node.intAttr("block_size", 0) : 0;
  if (result.block < 0)
    return (void)node.error("attribute 'block_size' is negative"), std::nullopt;
  bool hasAxis = node.type(1).getNumElements() != 1 || result.block;
  std::optional<int64_t> axis = hasAxis ? node.axis(given, rank) : 0;
  if (!axis)
    return std::nullopt;
  result.axis = *axis;
  auto read = [&](unsigned i) {
    return result.block ? repeated(node, i, *axis, result.block) : alongAxis(node, i, rank, *axis);
  };
  result.scale = read(1);
  bool hasZero = node.has(2) && isa<IntegerType>(node.type(2).getElementType());
  result.zero = hasZero ? read(2) : Value();
  if (!result.scale || (hasZero && !result.zero))
    return std::nullopt;
  return result;
}

// The element type that attribute `name` asks for, `otherwise` without it; null after an error.
Type typeAttr(Node &node, StringRef name, int64_t since, Type otherwise) {
  int64_t type = node.opset() >= since ? node.intAttr(name, 0) : 0;
  Type element = type ? elementType(node.builder().getContext(), static_cast<int>(type)) : otherwise;
  if (!element)
    (void)node.error("attribute '" + name + "': element type " + dataTypeName(static_cast<int>(type)) +
                     " is not supported");
  return element;
}

LogicalResult importQuantizeLinear(Node &node) {
  Type wide = node.builder().getF32Type(), byte = node.builder().getIntegerType(8, /*isSigned=*/false);
  Type to = typeAttr(node, "output_dtype", 21, node.has(2) ? node.type(2).getElementType() : byte);
  bool overflows = node.opset() >= 19 && node.intAttr("saturate", 1) == 0;
  Type precision = typeAttr(node, "precision", 23, wide);
  std::optional<Scales> scales = readScales(node);
  if (!to || !precision || !scales)
    return failure();
  if (node.has(2) && node.type(2).getElementType() != to)
    return node.error("attribute 'output_dtype' is not the type of the zero point");
  if (!precision.isF32() && !precision.isF16() && !precision.isBF16())
    return node.error("attribute 'precision' must be float, float16 or bfloat16");
  Formula f(node);
  auto operand = [&](Value value) { return castTo(node, castTo(node, value, precision), wide); };
  Value scaled = f.of<top::DivOp>(operand(node.input(0)), operand(scales->scale));
  scaled = castTo(node, castTo(node, scaled, precision), wide);
  if (isa<IntegerType>(to))
    return node.finish(roundTo(node, scaled, scales->zero, to, node.outputName()));
  SmallVector<NamedAttribute> attributes{node.named("to", TypeAttr::get(to))};
  if (overflows && to.getIntOrFloatBitWidth() == 8)
    attributes.push_back(node.named("overflows", node.builder().getUnitAttr()));
  return node.finish(scaled ? node.create<top::CastOp>(node.outputName(), scaled, attributes) : Value());
}

LogicalResult importDequantizeLinear(Node &node) {
  Type wide = node.builder().getF32Type();
  Type to = typeAttr(node, "output_dtype", 23, node.type(1).getElementType());
  std::optional<Scales> scales = readScales(node);
  if (!to || !scales)
    return failure();
  Formula f(node);
  Value x = node.input(0), zero = scales->zero;
  // 32 bits do not fit into a float, their difference with the zero point may.
  bool isWide = node.type(0).getElementType().isSignlessInteger(32);
  if (zero && isWide)
    x = f.of<top::SubOp>(x, zero);
  x = castTo(node, x, wide);
  if (zero && !isWide)
    x = f.of<top::SubOp>(x, castTo(node, zero, wide));
  Value scale = castTo(node, scales->scale, wide);
  if (to == wide)
    return x && scale ? f.result<top::MulOp>(x, scale) : failure();
  return node.finish(castTo(node, x && scale ? f.of<top::MulOp>(x, scale) : Value(), to, node.outputName()));
}

} // namespace

void registerQuantize(Registry &registry) {
  registry.add("QuantizeLinear", {10, kMaxOpset, 2, 3, exactly<importQuantizeLinear>});
  registry.add("DequantizeLinear", {10, kMaxOpset, 2, 3, exactly<importDequantizeLinear>});
  registry.add("com.microsoft.QuantizeLinear", {1, 1, 2, 3, exactly<importQuantizeLinear>});
  registry.add("com.microsoft.DequantizeLinear", {1, 1, 2, 3, exactly<importDequantizeLinear>});
}

} // namespace pto_mlir::onnx
