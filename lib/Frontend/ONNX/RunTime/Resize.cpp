// Forms of Resize and Upsample.
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

static LogicalResult buildResize(Node &node, unsigned at, bool areSizes, ArrayRef<int64_t> axes, StringRef mode,
                                 StringRef policy, SmallVector<NamedAttribute> parameters, Value region = {}) {
  OpBuilder &b = node.builder();
  if (mode != "nearest" && !isa<FloatType>(node.type(0).getElementType()))
    return node.error("interpolates integers where sizes are known at run time only");
  parameters.append({node.named("mode", b.getStringAttr(mode)), node.i64s("axes", axes), node.i64("sizes", areSizes),
                     node.named("policy", b.getStringAttr(policy))});
  SmallVector<Value> operands{node.input(0), node.input(at)};
  if (region)
    operands.push_back(region);
  if (llvm::is_contained(operands, Value()))
    return failure();
  return node.finish(atRunTime(node, node.outputName(), "resize", operands,
                               sizesKnown(node, at, areSizes, axes, policy == "stretch"), parameters));
}

// Resize 10 and Upsample have no coordinate modes: the source is x / scale, rounded down.
static LogicalResult upsampleForm(Node &node) {
  if (node.opset() < 9)
    return node.error("has scales as an attribute where sizes are known at run time only; convert it to opset 9");
  std::string mode = node.stringAttr("mode", "nearest");
  OpBuilder &b = node.builder();
  return buildResize(node, 1, false, llvm::to_vector(llvm::seq<int64_t>(0, node.type(0).getRank())),
                     mode == "bilinear" ? "linear" : mode, "stretch",
                     {node.named("coordinates", b.getStringAttr("asymmetric")),
                      node.named("nearest_mode", b.getStringAttr("simple"))});
}

static LogicalResult resizeForm(Node &node) {
  if (node.opset() < 11)
    return upsampleForm(node);
  int64_t rank = node.type(0).getRank();
  OpBuilder &b = node.builder();
  std::string coordinates = node.stringAttr("coordinate_transformation_mode", "half_pixel"), policy = "stretch";
  SmallVector<NamedAttribute> parameters{
      node.named("coordinates", b.getStringAttr(coordinates)),
      node.named("nearest_mode", b.getStringAttr(node.stringAttr("nearest_mode", "round_prefer_floor"))),
      node.f64("cubic_coeff_a", node.floatAttr("cubic_coeff_a", -0.75)),
      node.i64("exclude_outside", node.intAttr("exclude_outside", 0)),
      node.f64("extrapolation_value", node.floatAttr("extrapolation_value", 0))};
  std::optional<SmallVector<int64_t>> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.opset() >= 18) {
    parameters.push_back(node.i64("antialias", node.intAttr("antialias", 0)));
    policy = node.stringAttr("keep_aspect_ratio_policy", policy);
    if (std::optional<SmallVector<int64_t>> given = node.intsAttr("axes")) {
      if (!node.axes(*given, rank))
        return failure();
      for (auto [axis, own] : llvm::zip_equal(*given, MutableArrayRef(*axes).take_front(given->size())))
        own = axis < 0 ? axis + rank : axis; // in the order of scales, sizes and region
      axes->truncate(given->size());
    }
  }
  if (isGiven(node, 2) == isGiven(node, 3))
    return node.error(isGiven(node, 2) ? "has both scales and sizes" : "needs scales or sizes");
  bool crops = coordinates == "tf_crop_and_resize";
  if (crops && !isGiven(node, 1))
    return node.error("tf_crop_and_resize needs a roi");
  bool areSizes = isGiven(node, 3);
  return buildResize(node, areSizes ? 3 : 2, areSizes, *axes, node.stringAttr("mode", "nearest"), policy, parameters,
                     crops ? node.input(1) : Value());
}

void addResizeForms(Forms &forms) {
  forms["Upsample"] = upsampleForm;
  forms["Resize"] = resizeForm;
}

} // namespace pto_mlir::onnx
