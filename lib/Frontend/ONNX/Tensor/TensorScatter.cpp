// TensorScatter: rows of an update written into a cache, as a new tensor.
#include "../NN/AttentionParts.h"
#include "../Registry.h"

#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importTensorScatter(Node &node) {
  RankedTensorType cache = node.type(0), update = node.type(1);
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -2), cache.getRank());
  std::string mode = node.stringAttr("mode", "linear");
  if (!axis)
    return failure();
  if (mode != "linear" && mode != "circular")
    return node.error("attribute 'mode' = '" + mode + "' is not linear or circular");
  SmallVector<int64_t> shape(update.getShape());
  if (*axis == 0 || update.getRank() != cache.getRank() || shape[*axis] > cache.getDimSize(*axis))
    return node.error("cannot write " + pto_mlir::shapeText(shape) + " into " + pto_mlir::shapeText(cache.getShape()) +
                      " along axis " + Twine(*axis));
  shape[*axis] = cache.getDimSize(*axis);
  if (cache.getShape() != ArrayRef(shape) || update.getElementType() != cache.getElementType())
    return node.error("cache and update differ in more than the axis");
  Value first;
  if (node.has(2)) {
    if (node.type(2).getShape() != cache.getShape().take_front())
      return node.error("takes one write index per batch (" + Twine(cache.getDimSize(0)) + "), got " +
                        pto_mlir::shapeText(node.type(2).getShape()));
    if (!(first = castTo(node, node.input(2), node.builder().getI32Type())))
      return failure();
  }
  return node.finish(
      writeRows(node, node.outputName(), node.input(0), node.input(1), first, *axis, mode == "circular"));
}

void registerTensorScatter(Registry &registry) {
  registry.add("TensorScatter", {24, kMaxOpset, 2, 3, importTensorScatter});
}

} // namespace pto_mlir::onnx
