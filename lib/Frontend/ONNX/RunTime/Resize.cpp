// Forms of Resize and Upsample.
#include "../Tensor/Resize.h"
#include "Forms.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

static bool isGiven(Node &node, unsigned i) {
  return node.has(i) && !(node.type(i).hasStaticShape() && node.type(i).getNumElements() == 0);
}

// What is known of the sizes: those of constant scales or sizes, unless an aspect ratio is kept.
static SmallVector<int64_t> sizesKnown(Node &node, unsigned at, bool areSizes, ArrayRef<int64_t> axes, bool stretches) {
  SmallVector<int64_t> result(node.type(0).getShape());
  std::optional<top::Weight> known = node.constant(at);
  bool fits = known && known->type.getNumElements() == int64_t(axes.size());
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t &size = result[axis];
    if (!fits || (areSizes ? !stretches : ShapedType::isDynamic(size)))
      size = kOpen;
    else if (areSizes)
      size = top::toInts(*known)[i];
    else
      size = int64_t(std::floor(static_cast<float>(top::toDoubles(*known)[i]) * static_cast<float>(size)));
  }
  return result;
}

static LogicalResult buildResize(Node &node, unsigned at, bool areSizes, ArrayRef<int64_t> axes, StringRef policy,
                                 SmallVector<NamedAttribute> parameters, Value region = {}) {
  OpBuilder &b = node.builder();
  bool isCopy = llvm::is_contained(parameters, node.named("mode", b.getStringAttr("nearest")));
  if (!isCopy && !isa<FloatType>(node.type(0).getElementType()))
    return node.error("interpolates integers where sizes are known at run time only");
  parameters.append(
      {node.i64s("axes", axes), node.i64("sizes", areSizes), node.named("policy", b.getStringAttr(policy))});
  SmallVector<Value> operands{node.input(0), node.input(at)};
  if (region)
    operands.push_back(region);
  if (llvm::is_contained(operands, Value()))
    return failure();
  return node.finish(atRunTime(node, node.outputName(), "resize", operands,
                               sizesKnown(node, at, areSizes, axes, policy == "stretch"), parameters));
}

static LogicalResult upsampleForm(Node &node) {
  if (node.opset() < 9)
    return node.error("has scales as an attribute where sizes are known at run time only; convert it to opset 9");
  return buildResize(node, 1, false, llvm::to_vector(llvm::seq<int64_t>(0, node.type(0).getRank())), "stretch",
                     upsampleAttributes(node));
}

static LogicalResult resizeForm(Node &node) {
  if (node.opset() < 11)
    return upsampleForm(node);
  std::optional<ResizeAttributes> read = readResize(node);
  if (!read)
    return failure();
  OpBuilder &b = node.builder();
  SmallVector<NamedAttribute> parameters{node.named("mode", b.getStringAttr(read->mode)),
                                         node.named("coordinates", b.getStringAttr(read->coordinates)),
                                         node.named("nearest_mode", b.getStringAttr(read->nearest)),
                                         node.f64("cubic_coeff_a", read->cubicA),
                                         node.i64("exclude_outside", read->excludeOutside),
                                         node.f64("extrapolation_value", read->extrapolation),
                                         node.i64("antialias", read->antialias)};
  if (isGiven(node, 2) == isGiven(node, 3))
    return node.error(isGiven(node, 2) ? "has both scales and sizes" : "needs scales or sizes");
  bool crops = read->coordinates == "tf_crop_and_resize";
  if (crops && !isGiven(node, 1))
    return node.error("tf_crop_and_resize needs a roi");
  bool areSizes = isGiven(node, 3);
  return buildResize(node, areSizes ? 3 : 2, areSizes, read->axes, read->policy, parameters,
                     crops ? node.input(1) : Value());
}

void addResizeForms(Forms &forms) {
  forms["Upsample"] = upsampleForm;
  forms["Resize"] = resizeForm;
}

} // namespace pto_mlir::onnx
