// Rotation of heads and writing of rows into a cache.
#include "../Composite.h"
#include "AttentionParts.h"
#include "pto_mlir/Dialect/Top/IR/State.h"

using namespace mlir;

namespace pto_mlir::onnx {

static RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===-- Rotation ----------------------------------------------------------===//

Value rotate(Node &node, StringRef name, HeadTensor tensor, Value cosine, Value sine, int64_t rotated,
             bool interleaved) {
  if (!tensor.value || !cosine || !sine)
    return {};
  Formula f(node);
  RankedTensorType type = tensorOf(tensor.value);
  int64_t batch = tensor.batch(), rows = tensor.rows(), heads = tensor.heads, depth = tensor.depth();
  int64_t half = rotated / 2, angles = tensorOf(cosine).getDimSize(0);
  Value x = tensor.isMerged ? node.reshape("", tensor.value, {batch, rows, heads, depth}) : tensor.value;
  SmallVector<int64_t> outer(tensorOf(x).getShape().drop_back());
  SmallVector<int64_t> angleShape =
      tensor.isMerged ? SmallVector<int64_t>{angles, rows, 1, half} : SmallVector<int64_t>{angles, 1, rows, half};
  Type element = type.getElementType();
  Value cos = node.reshape("", castTo(node, cosine, element), angleShape),
        sin = node.reshape("", castTo(node, sine, element), angleShape);
  Value turned = sliceDim(node, x, 3, 0, rotated), first, second;
  SmallVector<int64_t> column(outer);
  column.push_back(half);
  if (interleaved) {
    SmallVector<int64_t> pairs(column);
    pairs.push_back(2);
    turned = node.reshape("", turned, pairs);
    first = sliceDim(node, turned, 4, 0, 1), second = sliceDim(node, turned, 4, 1, 2);
    first = first ? node.reshape("", first, column) : first;
    second = second ? node.reshape("", second, column) : second;
  } else {
    first = sliceDim(node, turned, 3, 0, half), second = sliceDim(node, turned, 3, half, rotated);
  }
  Value real = f.of<top::SubOp>(f.of<top::MulOp>(first, cos), f.of<top::MulOp>(second, sin)),
        imaginary = f.of<top::AddOp>(f.of<top::MulOp>(first, sin), f.of<top::MulOp>(second, cos));
  if (!real || !imaginary)
    return {};
  bool isRest = rotated < depth, isLast = !isRest && !tensor.isMerged;
  Value joined;
  if (interleaved) {
    column.push_back(1);
    joined = concatenate(node, "", {node.reshape("", real, column), node.reshape("", imaginary, column)}, 4);
    outer.push_back(rotated);
    joined = joined ? node.create<top::ReshapeOp>(isLast ? name : "", joined, {node.i64s("shape", outer)}) : joined;
  } else {
    joined = concatenate(node, isLast ? name : "", {real, imaginary}, 3);
  }
  if (isRest)
    joined = concatenate(node, tensor.isMerged ? "" : name, {joined, sliceDim(node, x, 3, rotated, depth)}, 3);
  if (!joined || !tensor.isMerged)
    return joined;
  return node.create<top::ReshapeOp>(name, joined, {node.i64s("shape", type.getShape())});
}

//===-- Rows of a cache ---------------------------------------------------===//

namespace {

// More rows are written by a product with a matrix of ones and zeros; fewer one after the other.
constexpr int64_t kMostSingleRows = 16;

// Where the rows of an update go: comparisons of the cache's row numbers with their places.
class Places {
public:
  Places(Node &node, Value first, int64_t batch, int64_t size, bool circular)
      : node(node), f(node), size(size), circular(circular),
        first(first ? node.reshape("", first, {batch, 1, 1, 1}) : counting(node, 1, {1, 1, 1, 1})) {}

  // Whether a row of the cache, [size, 1], is the place of the update's row `number` (any shape that broadcasts).
  Value isPlace(Value number) {
    Value at = f.of<top::AddOp>(first, number), row = counting(node, size, {size, 1});
    Value same = f.compare(row, "eq", at);
    return circular ? f.of<top::OrOp>(same, f.compare(row, "eq", f.of<top::SubOp>(at, static_cast<double>(size))))
                    : same;
  }

private:
  Node &node;
  Formula f;
  int64_t size;
  bool circular;
  Value first;
};

} // namespace

Value writeRows(Node &node, StringRef name, Value cache, Value update, Value first, int64_t axis, bool circular) {
  if (!cache || !update)
    return {};
  if (top::isState(cache) || cache.getDefiningOp<top::StateWriteOp>()) {
    if (failed(node.countStateRows(tensorOf(update).getDimSize(axis))))
      return {};
    Value place = first ? first : counting(node, 1, {1});
    return node.create<top::StateWriteOp>(name, {cache, update, place},
                                          {node.i64("axis", axis), node.flag("circular", circular)});
  }
  Formula f(node);
  ArrayRef<int64_t> shape = tensorOf(cache).getShape();
  int64_t size = shape[axis], rows = tensorOf(update).getDimSize(axis), batch = axis > 0 ? shape[0] : 1;
  Type element = tensorOf(cache).getElementType();
  if (!areCountable(node, size))
    return {};
  constexpr int64_t kMostIntegerRows = 256;
  if (!isa<FloatType>(element) && rows > kMostIntegerRows)
    return (void)node.error("writes " + Twine(rows) + " rows of integers, at most " + Twine(kMostIntegerRows) +
                            " are supported"),
           Value();
  // [batch, outer, rows, inner] of any rank.
  int64_t outer = axis > 0 ? ShapedType::getNumElements(shape.slice(1, axis - 1)) : 1;
  int64_t inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  Value before = node.reshape("", cache, {batch, outer, size, inner}),
        added = node.reshape("", update, {batch, outer, rows, inner});
  Places places(node, first, batch, size, circular);
  Value result = before;
  if (rows <= kMostSingleRows || !isa<FloatType>(element)) {
    for (int64_t row = 0; row < rows && result; ++row) {
      Value place = places.isPlace(counting(node, 1, {1, 1, 1, 1}, row));
      result = node.create<top::WhereOp>("", {place, sliceDim(node, added, 2, row, row + 1), result});
    }
  } else {
    Value matrix = castTo(node, places.isPlace(counting(node, rows, {1, rows})), element);
    Value written = f.over<top::ReduceMaxOp>(matrix, {3});
    Value moved = node.create<top::MatMulOp>("", {matrix, added});
    Value isWritten = written ? f.compare(written, "gt", 0.5) : written;
    result = node.create<top::WhereOp>("", {isWritten, moved, result});
  }
  return result ? node.create<top::ReshapeOp>(name, result, {node.i64s("shape", shape)}) : result;
}

} // namespace pto_mlir::onnx
