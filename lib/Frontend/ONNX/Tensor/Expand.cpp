// Expand and Tile. Both broadcast dimensions of size 1; Tile inserts them first.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static Value expand(Node &node, StringRef name, Value value, ArrayRef<int64_t> shape) {
  if (value && cast<RankedTensorType>(value.getType()).getShape() == shape)
    return value;
  return node.create<top::ExpandOp>(name, value, {node.i64s("shape", shape)});
}

static LogicalResult importExpand(Node &node) {
  std::optional<SmallVector<int64_t>> wanted = node.ints(1, "shape");
  if (!wanted)
    return failure();
  // The input's size is kept where the shape is 1 or shorter.
  SmallVector<int64_t> shape = *wanted;
  ArrayRef<int64_t> own = node.type(0).getShape();
  if (shape.size() < own.size())
    shape.insert(shape.begin(), own.size() - shape.size(), 1);
  for (size_t i = 0; i < own.size(); ++i) {
    int64_t &size = shape[shape.size() - own.size() + i];
    if (size == 1)
      size = own[i];
    if (size != own[i] && own[i] != 1)
      return node.error("cannot expand dimension " + Twine(i) + " from " + Twine(own[i]) + " to " + Twine(size));
  }
  auto result = RankedTensorType::get(shape, node.type(0).getElementType());
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) || !top::tensorBytes(result))
    return node.error("the shape is negative or too large");
  if (result.getNumElements() == 0)
    return node.setEmpty(0, result.getShape(), result.getElementType()), success();
  return node.finish(expand(node, node.outputName(), node.input(0), shape));
}

// [a, b] tiled r and s times is [r, a, s, b] flattened to [r * a, s * b].
static Value tileAtOnce(Node &node, Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> repeats) {
  SmallVector<int64_t> split, repeated;
  for (auto [size, count] : llvm::zip_equal(own, repeats)) {
    if (count > 1) {
      split.push_back(1);
      repeated.push_back(count);
    }
    split.push_back(size);
    repeated.push_back(size);
  }
  return expand(node, "", node.reshape("", value, split), repeated);
}

// One dimension after the other, the last first, where all at once have more dimensions than tensors may have.
static Value tileInTurn(Node &node, Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> repeats) {
  int64_t inner = 1, outer = 1;
  for (int64_t size : own)
    outer *= size;
  for (size_t d = own.size(); d-- > 0;) {
    outer /= own[d];
    inner *= own[d];
    if (repeats[d] > 1)
      value = expand(node, "", node.reshape("", value, {outer, 1, inner}), {outer, repeats[d], inner});
    inner *= repeats[d];
  }
  return value;
}

static LogicalResult importTile(Node &node) {
  constexpr size_t kMostDims = 8;
  std::optional<SmallVector<int64_t>> repeats = node.ints(1, "repeats");
  if (!repeats)
    return failure();
  RankedTensorType type = node.type(0);
  ArrayRef<int64_t> own = type.getShape();
  if (repeats->size() != own.size())
    return node.error("has " + Twine(repeats->size()) + " repeats for an input of rank " + Twine(own.size()));
  SmallVector<int64_t> shape;
  for (auto [size, count] : llvm::zip_equal(own, *repeats)) {
    if (count < 0)
      return node.error("repeats must not be negative, got " + Twine(count));
    if (__builtin_mul_overflow(size, count, &shape.emplace_back()))
      return node.error("the result is too large");
  }
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (!top::tensorBytes(result))
    return node.error("the result is too large");
  if (result.getNumElements() == 0)
    return node.setEmpty(0, result.getShape(), result.getElementType()), success();
  if (ArrayRef<int64_t>(shape) == own)
    return node.finish(node.input(0));
  size_t tiled = llvm::count_if(*repeats, [](int64_t count) { return count > 1; });
  Value value = own.size() + tiled > kMostDims ? tileInTurn(node, node.input(0), own, *repeats)
                                               : tileAtOnce(node, node.input(0), own, *repeats);
  return node.finish(node.reshape(node.outputName(), value, shape));
}

void registerExpand(Registry &registry) {
  registry.add("Expand", {8, kMaxOpset, 2, 2, importExpand, kTakesStrings});
  registry.add("Tile", {7, kMaxOpset, 2, 2, importTile, kTakesStrings});
}

} // namespace pto_mlir::onnx
