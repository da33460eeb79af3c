// ThresholdedRelu, Shrink, Hardmax and OneHot: selections by comparison.
#include "../Composite.h"
#include "../Registry.h"
#include "../Tensor/Positions.h"

using namespace mlir;

namespace pto_mlir::onnx {

// x > alpha ? x : 0
static LogicalResult importThresholdedRelu(Node &node) {
  Formula f(node);
  Value x = node.input(0), above = f.compare(x, "gt", node.floatAttr("alpha", 1));
  return above ? node.result<top::WhereOp>({above, x, f.constant(x, 0)}) : failure();
}

// x < -lambd ? x + bias : x > lambd ? x - bias : 0. Of integers in a float that holds them, then cut toward zero.
static LogicalResult importShrink(Node &node) {
  Formula f(node);
  double bias = node.floatAttr("bias", 0), lambda = node.floatAttr("lambd", 0.5);
  Type element = node.type(0).getElementType();
  bool isWide = element.isInteger(32) || element.isInteger(64);
  Type wide = isWide ? node.builder().getF64Type() : node.builder().getF32Type();
  Value x = isa<FloatType>(element) ? node.input(0) : castTo(node, node.input(0), wide);
  Value below = f.compare(x, "lt", -lambda), above = f.compare(x, "gt", lambda);
  Value lowered = f.of<top::SubOp>(x, bias), raised = f.of<top::AddOp>(x, bias);
  if (!below || !above || !lowered || !raised)
    return failure();
  Value positive = node.create<top::WhereOp>("", {above, lowered, f.constant(x, 0)});
  StringRef name = isa<FloatType>(element) ? node.outputName() : StringRef();
  Value result = positive ? node.create<top::WhereOp>(name, {below, raised, positive}) : positive;
  return node.finish(castTo(node, result, element, node.outputName()));
}

static LogicalResult importOneHot(Node &node) {
  std::optional<top::Weight> depth = node.needConstant(1);
  if (!depth || depth->type.getNumElements() != 1)
    return node.error("the depth must be one constant");
  int64_t size = top::toInts(*depth).front(), rank = node.type(0).getRank();
  if (size < 1)
    return node.error("the depth is at least 1, got " + Twine(size));
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -1), rank + 1);
  if (!axis)
    return failure();
  OpBuilder &b = node.builder();
  Formula f(node);
  SmallVector<int64_t> shape(node.type(0).getShape());
  shape.insert(shape.begin() + *axis, 1);
  Value indices = node.reshape("", node.input(0), shape);
  if (indices && !node.type(0).getElementType().isInteger(64))
    indices = node.create<top::CastOp>("", indices, {node.named("to", TypeAttr::get(b.getI64Type()))});
  if (!indices)
    return failure();
  // A negative index counts from the end.
  Value negative = f.compare(indices, "lt", 0.0), fromEnd = f.of<top::AddOp>(indices, double(size));
  if (!negative || !fromEnd)
    return failure();
  indices = f.where(negative, fromEnd, indices);
  Value hot = f.compare(indices, "eq", rangeAlong(node, rank + 1, *axis, size));
  auto part = [&](int64_t i) {
    Value one = node.create<top::SliceOp>("", node.input(2),
                                          {node.i64s("starts", i), node.i64s("ends", i + 1), node.i64s("steps", 1)});
    return one ? node.reshape("", one, {}) : one;
  };
  if (node.type(2).getShape() != ArrayRef<int64_t>{2})
    return node.error("values must be the two numbers off and on");
  Value off = part(0), on = part(1);
  return hot && off && on ? node.result<top::WhereOp>({hot, on, off}) : failure();
}

// 1 at the first position of the maximum. Before opset 13 over all dimensions from `axis` on.
static LogicalResult importHardmax(Node &node) {
  RankedTensorType type = node.type(0);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", node.opset() >= 13 ? -1 : 1), type.getRank());
  if (!axis)
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  if (node.opset() < 13)
    shape = {ShapedType::getNumElements(ArrayRef<int64_t>(shape).take_front(*axis)),
             ShapedType::getNumElements(ArrayRef<int64_t>(shape).drop_front(*axis))};
  int64_t rank = shape.size(), dim = node.opset() < 13 ? 1 : *axis, size = shape[dim];
  Formula f(node);
  Value x = node.reshape("", node.input(0), shape);
  Value found = x ? f.compare(x, "eq", f.over<top::ReduceMaxOp>(x, dim)) : x;
  Value position = rangeAlong(node, rank, dim, size);
  Value candidates = f.where(found, position, f.constant(position, size));
  Value first = candidates ? f.over<top::ReduceMinOp>(candidates, dim) : candidates;
  Value hot = first ? f.compare(first, "eq", position) : first;
  if (!hot)
    return failure();
  Value result = node.create<top::WhereOp>("", {hot, f.constant(x, 1), f.constant(x, 0)});
  return result ? node.finish(node.reshape(node.outputName(), result, type.getShape())) : failure();
}

void registerThreshold(Registry &registry) {
  registry.add("ThresholdedRelu", {10, kMaxOpset, 1, 1, importThresholdedRelu});
  registry.add("Shrink", {9, kMaxOpset, 1, 1, importShrink});
  registry.add("OneHot", {9, kMaxOpset, 3, 3, importOneHot});
  registry.add("Hardmax", {7, kMaxOpset, 1, 1, importHardmax});
}

} // namespace pto_mlir::onnx
