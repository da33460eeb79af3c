#include "Positions.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Of each dimension, in elements.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// Negative indices count from the end. The values of constants are checked.
static Value normalised(Node &node, Value indices, int64_t size) {
  Formula f(node);
  auto type = cast<RankedTensorType>(indices.getType());
  if (!isa<IntegerType>(type.getElementType()))
    return (void)node.error("indices must be integers"), Value();
  if (std::optional<top::Weight> known = top::getConstant(indices)) {
    std::vector<int64_t> values = top::toInts(*known);
    for (int64_t &value : values) {
      if (value < -size || value >= size)
        return (void)node.error("index " + Twine(value) + " is outside of a dimension of " + Twine(size)), Value();
      value += value < 0 ? size : 0;
    }
    OpBuilder &b = node.builder();
    type = RankedTensorType::get(type.getShape(), b.getI64Type());
    return top::createConstant(b, b.getUnknownLoc(), "indices", type, top::fromInts(b.getI64Type(), values));
  }
  if (!type.getElementType().isInteger(64))
    indices = node.create<top::CastOp>("", indices, {node.named("to", TypeAttr::get(node.builder().getI64Type()))});
  Value negative = f.compare(indices, "lt", 0.0);
  Value fromEnd = f.of<top::AddOp>(indices, double(size));
  return f.where(negative, fromEnd, indices);
}

Value rangeAlong(Node &node, int64_t rank, int64_t dim, int64_t count, int64_t step) {
  if (!node.mayBuild(count))
    return {};
  OpBuilder &b = node.builder();
  SmallVector<int64_t> shape(rank, 1), values;
  shape[dim] = count;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(i * step);
  return top::createConstant(b, b.getUnknownLoc(), "range", RankedTensorType::get(shape, b.getI64Type()),
                             top::fromInts(b.getI64Type(), values));
}

Value readIndices(Node &node, unsigned i, int64_t size) { return normalised(node, node.input(i), size); }

Value elementPositions(Node &node, Value indices, ArrayRef<int64_t> shape, int64_t axis) {
  Formula f(node);
  SmallVector<int64_t> strides = stridesOf(shape);
  Value positions = f.of<top::MulOp>(indices, double(strides[axis]));
  for (int64_t d = 0; positions && d < static_cast<int64_t>(shape.size()); ++d)
    if (int64_t count = shapeOf(indices)[d]; d != axis && count > 1)
      positions = f.of<top::AddOp>(positions, rangeAlong(node, shape.size(), d, count, strides[d]));
  return positions;
}

Value tuplePositions(Node &node, unsigned i, ArrayRef<int64_t> shape, int64_t batch) {
  RankedTensorType type = node.type(i);
  int64_t rank = type.getRank(), depth = rank ? type.getShape().back() : 0;
  if (rank < 1 || batch + depth > static_cast<int64_t>(shape.size()) || depth < 1 || batch >= rank)
    return (void)node.error("indices of shape " + shapeText(type.getShape()) + " do not select from a tensor of " +
                            Twine(shape.size()) + " dimensions"),
           Value();
  Formula f(node);
  SmallVector<int64_t> strides = stridesOf(shape.take_front(batch + depth));
  SmallVector<int64_t> lead(type.getShape().drop_back());
  Value positions;
  for (int64_t j = 0; j < depth; ++j) {
    SmallVector<int64_t> starts(rank, 0), ends(type.getShape()), steps(rank, 1);
    starts.back() = j, ends.back() = j + 1;
    Value column = node.input(i);
    if (depth > 1)
      column = node.create<top::SliceOp>(
          "", column, {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
    if (column)
      column = node.reshape("", column, lead);
    if (column)
      column = normalised(node, column, shape[batch + j]);
    Value term = column ? f.of<top::MulOp>(column, double(strides[batch + j])) : Value();
    positions = term && positions ? f.of<top::AddOp>(positions, term) : term;
    if (!positions)
      return positions;
  }
  for (int64_t d = 0; positions && d < batch; ++d)
    positions = f.of<top::AddOp>(positions, rangeAlong(node, lead.size(), d, shape[d], strides[d]));
  return positions;
}

} // namespace pto_mlir::onnx
