// Split: one slice per output; sizes that are computed leave the extents to run time.
#include "../Registry.h"
#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Sizes of the parts; nullopt after an error.
static std::optional<SmallVector<int64_t>> partSizes(Node &node, int64_t size) {
  int64_t parts = node.numOutputs();
  if (node.opset() < 13) {
    if (std::optional<SmallVector<int64_t>> given = node.intsAttr("split"))
      return given;
  } else if (node.has(1)) {
    return node.ints(1, "split");
  }
  if (node.opset() >= 18)
    parts = node.intAttr("num_outputs", parts);
  if (parts != node.numOutputs() || (node.opset() < 18 && size % parts != 0)) {
    (void)node.error("cannot split " + Twine(size) + " into " + Twine(parts) + " equal parts for " +
                     Twine(node.numOutputs()) + " outputs");
    return std::nullopt;
  }
  // The last part may be smaller (opset 18).
  int64_t chunk = ceilDiv(size, parts);
  SmallVector<int64_t> sizes(parts, chunk);
  sizes.back() = size - chunk * (parts - 1);
  return sizes;
}

// Whether the sizes are known at run time only, and as many as the outputs.
static bool hasComputedSizes(Node &node) {
  return node.opset() >= 13 && node.has(1) && !node.constant(1) &&
         node.type(1).getShape() == ArrayRef<int64_t>{node.numOutputs()};
}

// Whether `size` can be cut into as many parts in few ways: (size + parts - 1) over (parts - 1).
static bool hasFewCuts(int64_t size, int64_t parts) {
  int64_t ways = 1;
  for (int64_t i = 1; i < parts && ways <= kFewVersions; ++i)
    ways = ways * (size + i) / i;
  return ways <= kFewVersions;
}

// The host cuts each part, and checks that the sizes add up.
static LogicalResult importComputedSizes(Node &node, int64_t axis) {
  RankedTensorType type = node.type(0);
  int64_t size = type.getDimSize(axis);
  if (!node.type(1).getElementType().isInteger(64))
    return node.error("takes sizes of 64 bits");
  for (unsigned i = 0; i < node.numOutputs(); ++i) {
    if (!node.wantsOutput(i))
      continue;
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = ShapedType::kDynamic;
    Value part = node.host(node.outputName(i), "split_part", {node.input(0), node.input(1)},
                           RankedTensorType::get(shape, type.getElementType()), "the values decide the sizes",
                           {node.i64("axis", axis), node.i64("part", i)});
    if (!part)
      return failure();
    node.setExtents(part, 0, size, hasFewCuts(size, node.numOutputs()));
    node.set(i, part);
  }
  return success();
}

static LogicalResult importSplit(Node &node) {
  RankedTensorType type = node.type(0);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), type.getRank());
  if (!axis)
    return failure();
  if (hasComputedSizes(node))
    return importComputedSizes(node, *axis);
  int64_t size = type.getDimSize(*axis), position = 0;
  std::optional<SmallVector<int64_t>> sizes = partSizes(node, size);
  if (!sizes)
    return failure();
  if (sizes->size() != node.numOutputs())
    return node.error("has " + Twine(node.numOutputs()) + " outputs, but " + Twine(sizes->size()) + " sizes");
  for (auto [i, part] : llvm::enumerate(*sizes)) {
    if (part == 0 && node.wantsOutput(i)) { // Concat drops it again
      SmallVector<int64_t> shape(type.getShape());
      shape[*axis] = 0;
      node.setEmpty(i, shape, type.getElementType());
      continue;
    }
    if (part < 0 || part > size - position)
      return node.error("sizes do not add up to " + Twine(size));
    if (node.wantsOutput(i)) {
      SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape()), steps(type.getRank(), 1);
      starts[*axis] = position;
      ends[*axis] = position + part;
      Value value = part == size ? node.input(0)
                                 : node.create<top::SliceOp>(node.outputName(i), node.input(0),
                                                             {node.i64s("starts", starts), node.i64s("ends", ends),
                                                              node.i64s("steps", steps)});
      if (!value)
        return failure();
      node.set(i, value);
    }
    position += part;
  }
  return position == size ? success() : node.error("sizes do not add up to " + Twine(size));
}

void registerSplit(Registry &registry) {
  registry.add("Split", {7, 12, 1, 1, importSplit, kTakesStrings});
  registry.add("Split", {13, kMaxOpset, 1, 2, importSplit, kTakesStrings});
}

} // namespace pto_mlir::onnx
