// Resize and Upsample: sizes and scales of all dimensions are made explicit.
#include "Resize.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

namespace {
/// The common form of all operator versions.
struct Request {
  SmallVector<int64_t> sizes;
  SmallVector<double> scales;
  SmallVector<double> roi; ///< starts, then ends; empty when not given
};
} // namespace

// The elements of a constant list of floats; nullopt after an error.
static std::optional<std::vector<double>> floats(Node &node, unsigned i, StringRef what) {
  std::optional<top::Weight> weight = node.constant(i);
  if (!weight || weight->type.getRank() != 1 || !isa<FloatType>(weight->type.getElementType())) {
    (void)node.error(weight ? what + " must be a list of floats" : what + " must be constant");
    return std::nullopt;
  }
  return top::toDoubles(*weight);
}

static bool isEmpty(Node &node, unsigned i) { return !node.has(i) || node.type(i).getNumElements() == 0; }

// Each output size is the input's times its scale, rounded down.
static LogicalResult applyScales(Node &node, ArrayRef<double> given, ArrayRef<int64_t> axes, Request &request) {
  if (given.size() != axes.size())
    return node.error("takes " + Twine(axes.size()) + " scales, got " + Twine(given.size()));
  for (auto [scale, axis] : llvm::zip(given, axes)) {
    double size = std::floor(static_cast<float>(scale) * static_cast<float>(request.sizes[axis]));
    if (!(scale > 0) || (!(size >= 1) && request.sizes[axis] != 0) || size > INT32_MAX)
      return node.error("scale " + std::to_string(scale) + " makes no size of dimension " + Twine(axis) + " (" +
                        Twine(request.sizes[axis]) + ")");
    request.scales[axis] = scale;
    request.sizes[axis] = static_cast<int64_t>(size);
  }
  return success();
}

static LogicalResult applySizes(Node &node, ArrayRef<int64_t> given, ArrayRef<int64_t> axes, StringRef policy,
                                Request &request) {
  if (given.size() != axes.size())
    return node.error("takes " + Twine(axes.size()) + " sizes, got " + Twine(given.size()));
  std::optional<float> common;
  for (auto [size, axis] : llvm::zip(given, axes)) {
    if (size < 1 || size > INT32_MAX)
      return node.error("takes positive sizes, got " + Twine(size));
    if (request.sizes[axis] == 0)
      return node.error("cannot give dimension " + Twine(axis) + ", which is empty, a size of " + Twine(size));
    float scale = static_cast<float>(size) / static_cast<float>(request.sizes[axis]);
    request.scales[axis] = scale;
    if (common)
      scale = policy == "not_larger" ? std::min(scale, *common) : std::max(scale, *common);
    common = scale;
  }
  for (auto [size, axis] : llvm::zip(given, axes)) {
    if (policy == "stretch") {
      request.sizes[axis] = size;
      continue;
    }
    request.scales[axis] = *common;
    request.sizes[axis] = static_cast<int64_t>(std::floor(*common * static_cast<float>(request.sizes[axis]) + 0.5f));
  }
  return success();
}

static LogicalResult finish(Node &node, const Request &request, SmallVector<NamedAttribute> attributes) {
  OpBuilder &b = node.builder();
  if (ArrayRef<int64_t>(request.sizes) == node.type(0).getShape() &&
      llvm::all_of(request.scales, [](double s) { return s == 1; }) && request.roi.empty())
    return node.finish(node.input(0));
  if (llvm::is_contained(request.sizes, 0)) {
    node.setEmpty(0, request.sizes, node.type(0).getElementType());
    return success();
  }
  attributes.push_back(node.i64s("sizes", request.sizes));
  attributes.push_back(node.named("scales", b.getDenseF64ArrayAttr(request.scales)));
  if (!request.roi.empty())
    attributes.push_back(node.named("roi", b.getDenseF64ArrayAttr(request.roi)));
  return node.result<top::ResizeOp>(node.input(0), attributes);
}

std::optional<ResizeAttributes> readResize(Node &node) {
  int64_t rank = node.type(0).getRank();
  ResizeAttributes read;
  read.mode = node.stringAttr("mode", "nearest");
  read.coordinates = node.stringAttr("coordinate_transformation_mode", "half_pixel");
  read.nearest = node.stringAttr("nearest_mode", "round_prefer_floor");
  read.cubicA = node.floatAttr("cubic_coeff_a", -0.75);
  read.excludeOutside = node.intAttr("exclude_outside", 0);
  read.extrapolation = node.floatAttr("extrapolation_value", 0);
  read.axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.opset() < 18)
    return read;
  read.antialias = node.intAttr("antialias", 0);
  read.policy = node.stringAttr("keep_aspect_ratio_policy", read.policy);
  if (std::optional<SmallVector<int64_t>> given = node.intsAttr("axes")) {
    if (!node.axes(*given, rank))
      return std::nullopt;
    read.axes = llvm::map_to_vector(*given, [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
  }
  if (read.policy == "stretch" || read.policy == "not_larger" || read.policy == "not_smaller")
    return read;
  (void)node.error("attribute 'keep_aspect_ratio_policy' must be stretch, not_larger or not_smaller, not '" +
                   read.policy + "'");
  return std::nullopt;
}

SmallVector<NamedAttribute> upsampleAttributes(Node &node) {
  OpBuilder &b = node.builder();
  std::string mode = node.stringAttr("mode", "nearest");
  return {node.named("mode", b.getStringAttr(mode == "bilinear" ? "linear" : mode)),
          node.named("coordinates", b.getStringAttr("asymmetric")),
          node.named("nearest_mode", b.getStringAttr("simple"))};
}

static LogicalResult importUpsample(Node &node) {
  int64_t rank = node.type(0).getRank();
  Request request{SmallVector<int64_t>(node.type(0).getShape()), SmallVector<double>(rank, 1), {}};
  SmallVector<NamedAttribute> attributes = upsampleAttributes(node);
  SmallVector<double> scales;
  if (node.opset() < 9) {
    const ::onnx::AttributeProto *attribute = node.attr("scales");
    if (!attribute)
      return node.error("lacks attribute 'scales'");
    scales.assign(attribute->floats().begin(), attribute->floats().end());
  } else {
    std::optional<std::vector<double>> given = floats(node, 1, "scales");
    if (!given)
      return failure();
    scales.assign(given->begin(), given->end());
  }
  if (failed(applyScales(node, scales, llvm::to_vector(llvm::seq<int64_t>(0, rank)), request)))
    return failure();
  return finish(node, request, attributes);
}

static LogicalResult importResize(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::optional<ResizeAttributes> read = readResize(node);
  if (!read)
    return failure();
  ArrayRef<int64_t> axes = read->axes;
  Request request{SmallVector<int64_t>(node.type(0).getShape()), SmallVector<double>(rank, 1), {}};
  OpBuilder &b = node.builder();
  SmallVector<NamedAttribute> attributes{node.named("mode", b.getStringAttr(read->mode)),
                                         node.named("coordinates", b.getStringAttr(read->coordinates)),
                                         node.named("nearest_mode", b.getStringAttr(read->nearest)),
                                         node.f64("cubic_coeff_a", read->cubicA),
                                         node.flag("exclude_outside", read->excludeOutside),
                                         node.f64("extrapolation_value", read->extrapolation)};
  if (node.opset() >= 18)
    attributes.push_back(node.flag("antialias", read->antialias));
  if (isEmpty(node, 2) == isEmpty(node, 3))
    return node.error(isEmpty(node, 2) ? "needs scales or sizes" : "has both scales and sizes");
  if (isEmpty(node, 3)) {
    std::optional<std::vector<double>> scales = floats(node, 2, "scales");
    if (!scales || failed(applyScales(node, *scales, axes, request)))
      return failure();
  } else {
    std::optional<SmallVector<int64_t>> sizes = node.ints(3, "sizes");
    if (!sizes || failed(applySizes(node, *sizes, axes, read->policy, request)))
      return failure();
  }
  if (read->coordinates == "tf_crop_and_resize") {
    if (isEmpty(node, 1))
      return node.error("tf_crop_and_resize needs a roi");
    std::optional<std::vector<double>> roi = floats(node, 1, "roi");
    if (!roi)
      return failure();
    if (roi->size() != 2 * axes.size())
      return node.error("takes " + Twine(2 * axes.size()) + " values in roi, got " + Twine(roi->size()));
    request.roi.assign(rank, 0);
    request.roi.append(rank, 1);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      request.roi[axis] = (*roi)[i];
      request.roi[rank + axis] = (*roi)[axes.size() + i];
    }
  }
  return finish(node, request, attributes);
}

void registerResize(Registry &registry) {
  registry.add("Upsample", {7, 8, 1, 1, importUpsample});
  registry.add("Upsample", {9, 9, 2, 2, importUpsample});
  registry.add("Resize", {10, 10, 2, 2, importUpsample});
  registry.add("Resize", {11, kMaxOpset, 1, 4, importResize});
}

} // namespace pto_mlir::onnx
