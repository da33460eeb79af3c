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
  }
  return node.finish(expand(node, node.outputName(), node.input(0), shape));
}

// [a, b] tiled r and s times is [r, a, s, b] flattened to [r * a, s * b].
static LogicalResult importTile(Node &node) {
  std::optional<SmallVector<int64_t>> repeats = node.ints(1, "repeats");
  if (!repeats)
    return failure();
  ArrayRef<int64_t> own = node.type(0).getShape();
  if (repeats->size() != own.size())
    return node.error("has " + Twine(repeats->size()) + " repeats for an input of rank " + Twine(own.size()));
  SmallVector<int64_t> split, repeated, shape;
  for (auto [size, count] : llvm::zip_equal(own, *repeats)) {
    if (count < 1)
      return node.error("repeats must be at least 1, got " + Twine(count));
    if (count > 1) {
      split.push_back(1);
      repeated.push_back(count);
    }
    split.push_back(size);
    repeated.push_back(size);
    shape.push_back(size * count);
  }
  if (ArrayRef<int64_t>(shape) == own)
    return node.finish(node.input(0));
  Value value = expand(node, "", node.reshape("", node.input(0), split), repeated);
  return node.finish(node.reshape(node.outputName(), value, shape));
}

void registerExpand(Registry &registry) {
  registry.add("Expand", {8, kMaxOpset, 2, 2, importExpand});
  registry.add("Tile", {7, kMaxOpset, 2, 2, importTile});
}

} // namespace pto_mlir::onnx
