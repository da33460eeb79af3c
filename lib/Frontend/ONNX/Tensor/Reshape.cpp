// Reshape, Flatten, Squeeze, Unsqueeze: all become top.reshape.
#include "../Registry.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importReshape(Node &node) {
  std::optional<SmallVector<int64_t>> shape = node.ints(1, "shape");
  bool allowZero = node.opset() >= 14 && node.intAttr("allowzero", 0);
  if (!shape)
    return failure();
  RankedTensorType type = node.type(0);
  int64_t known = 1;
  int64_t *open = nullptr;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size == 0 && !allowZero) {
      if (static_cast<int64_t>(i) >= type.getRank())
        return node.error("shape has a 0 at " + Twine(i) + ", where the input has no dimension");
      size = type.getDimSize(i);
    }
    if (size == -1 && !open)
      open = &size;
    else if (size < 0 || llvm::MulOverflow(known, size, known))
      return node.error("shape has a bad size " + Twine(size));
  }
  if (open && known > 0 && type.getNumElements() % known == 0)
    *open = type.getNumElements() / known;
  return node.finish(node.reshape(node.outputName(), node.input(0), *shape));
}

static LogicalResult importFlatten(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t axis = node.intAttr("axis", 1), rank = type.getRank();
  if (axis < -rank || axis > rank)
    return node.error("axis " + Twine(axis) + " is outside of an input of rank " + Twine(rank));
  if (axis < 0)
    axis += rank;
  int64_t outer = 1, inner = 1;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    (static_cast<int64_t>(i) < axis ? outer : inner) *= size;
  return node.finish(node.reshape(node.outputName(), node.input(0), {outer, inner}));
}

// The list of axes: attribute before opset 13, input 1 since. Nullopt with no error when absent.
static std::optional<SmallVector<int64_t>> readAxes(Node &node) {
  if (node.opset() < 13)
    return node.intsAttr("axes");
  return node.has(1) ? node.ints(1, "axes") : std::nullopt;
}

static LogicalResult importSqueeze(Node &node) {
  RankedTensorType type = node.type(0);
  std::optional<SmallVector<int64_t>> given = readAxes(node);
  if (node.hasErrors())
    return failure();
  std::optional<SmallVector<int64_t>> axes = given ? node.axes(*given, type.getRank()) : SmallVector<int64_t>();
  if (!axes)
    return failure();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    bool drop = given ? llvm::is_contained(*axes, static_cast<int64_t>(i)) : size == 1;
    if (drop && size != 1)
      return node.error("cannot squeeze axis " + Twine(i) + " of size " + Twine(size));
    if (!drop)
      shape.push_back(size);
  }
  return node.finish(node.reshape(node.outputName(), node.input(0), shape));
}

static LogicalResult importUnsqueeze(Node &node) {
  RankedTensorType type = node.type(0);
  std::optional<SmallVector<int64_t>> given = readAxes(node);
  if (!given)
    return node.hasErrors() ? failure() : node.error("lacks 'axes'");
  std::optional<SmallVector<int64_t>> axes = node.axes(*given, type.getRank() + given->size());
  if (!axes)
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t axis : *axes)
    shape.insert(shape.begin() + axis, 1);
  return node.finish(node.reshape(node.outputName(), node.input(0), shape));
}

void registerReshape(Registry &registry) {
  registry.add("Reshape", {7, kMaxOpset, 2, 2, importReshape, kTakesStrings});
  registry.add("Flatten", {7, kMaxOpset, 1, 1, importFlatten, kTakesStrings});
  registry.add("Squeeze", {7, 12, 1, 1, importSqueeze, kTakesStrings});
  registry.add("Squeeze", {13, kMaxOpset, 1, 2, importSqueeze, kTakesStrings});
  registry.add("Unsqueeze", {7, 12, 1, 1, importUnsqueeze, kTakesStrings});
  registry.add("Unsqueeze", {13, kMaxOpset, 2, 2, importUnsqueeze, kTakesStrings});
}

} // namespace pto_mlir::onnx
