// RoiAlign: a grid of samples in each bin of each region. A fixed number of them is gathered on the engines; a number
// that follows from the size of the region is the host's.
#include "../RunTime/Forms.h"
#include "AttentionParts.h"
#include "Sampling.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// Samples of one region along one dimension.
constexpr int64_t kMostSamples = 1 << 12;
/// Samples of all regions.
constexpr int64_t kMostOfRegions = 1 << 26;

struct RoiAlign {
  Node &node;
  Formula f;
  int64_t bins[2], samples;
  double scale;
  bool isHalfPixel, isMax;
  ArrayRef<int64_t> shape; ///< of the images
  int64_t regions;

  /// Column `i` of the regions, in pixels: [regions, 1].
  Value edge(int64_t i) {
    Value x = castTo(node, sliceDim(node, node.input(1), 1, i, i + 1), node.builder().getF32Type());
    x = f.of<top::MulOp>(x, scale);
    return isHalfPixel ? f.of<top::SubOp>(x, 0.5) : x;
  }

  /// The two pixels around each sample along `dim` (height, width), [regions, samples]; a sample that lies more than a
  /// pixel outside of the image weighs nothing.
  std::vector<Tap> tapsOf(int64_t dim, ArrayRef<int64_t> spread) {
    Value begin = edge(1 - dim), length = f.of<top::SubOp>(edge(3 - dim), begin);
    if (!isHalfPixel && length)
      length = f.of<top::MaxOp>(length, 1.0);
    int64_t count = bins[dim] * samples;
    std::vector<double> steps(count);
    for (int64_t i = 0; i < count; ++i)
      steps[i] = (double(i) + 0.5) / double(samples);
    Value bin = f.of<top::MulOp>(length, 1.0 / double(bins[dim]));
    Value x = begin && bin ? f.of<top::AddOp>(begin, f.of<top::MulOp>(bin, floats(node, {1, count}, steps))) : bin;
    x = x ? node.reshape("", x, spread) : x;
    double size = double(shape[2 + dim]);
    Value isInside = f.of<top::AndOp>(f.compare(x, "ge", -1.0), f.compare(x, "le", size));
    Value place = f.of<top::MinOp>(f.of<top::MaxOp>(x, 0.0), size - 1), low = f.of<top::FloorOp>(place);
    Value t = f.of<top::SubOp>(place, low), high = f.of<top::MinOp>(f.of<top::AddOp>(low, 1.0), size - 1);
    if (!t || !high || !isInside)
      return {{Value(), Value()}};
    Value zero = f.constant(t, 0), rest = f.of<top::SubOp>(f.constant(t, 1), t);
    return {{low, f.where(isInside, rest, zero)}, {high, f.where(isInside, t, zero)}};
  }

  LogicalResult run() {
    int64_t rows = bins[0] * samples, columns = bins[1] * samples;
    SmallVector<int64_t> all{regions, rows, columns};
    std::vector<std::vector<Tap>> taps{tapsOf(0, {regions, rows, 1}), tapsOf(1, {regions, 1, columns})};
    Value image = castTo(node, node.reshape("", node.input(2), {regions, 1, 1}), node.builder().getI64Type());
    image = f.of<top::ClipOp>(image, {node.f64("min", 0), node.f64("max", double(shape[0] - 1))});
    image = f.of<top::MulOp>(image, double(shape[2] * shape[3]));
    Value value = sampleRows(node, channelRows(node, node.input(0)), image, taps, shape.drop_front(2),
                             isMax ? Blend::max : Blend::sum);
    value = value ? node.reshape("", value, {regions, bins[0], samples, bins[1], samples, shape[1]}) : value;
    SmallVector<NamedAttribute> over{node.i64s("axes", {2, 4}), node.flag("keepdims", false)};
    value = isMax ? f.of<top::ReduceMaxOp>(value, over) : f.of<top::ReduceMeanOp>(value, over);
    return value ? f.result<top::PermuteOp>(value, {node.i64s("perm", {0, 3, 1, 2})}) : failure();
  }

  LogicalResult onHost() {
    SmallVector<NamedAttribute> parameters{node.i64("height", bins[0]), node.i64("width", bins[1]),
                                           node.f64("scale", scale),    node.i64("half_pixel", isHalfPixel),
                                           node.i64("max", isMax),      node.i64("samples", samples)};
    auto type = RankedTensorType::get({regions, shape[1], bins[0], bins[1]}, node.type(0).getElementType());
    return node.finish(node.host(node.outputName(), "roialign", {node.input(0), node.input(1), node.input(2)}, type,
                                 "the size of a region decides how many samples it has", parameters));
  }
};

} // namespace

LogicalResult importRoiAlign(Node &node) {
  auto mayBe = [](int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); };
  RankedTensorType images = node.type(0), regions = node.type(1);
  if (images.getRank() != 4 || regions.getRank() != 2 || !mayBe(regions.getDimSize(1), 4) ||
      node.type(2).getRank() != 1 || !mayBe(node.type(2).getDimSize(0), regions.getDimSize(0)) ||
      !isa<FloatType>(images.getElementType()))
    return node.error("expects images [N, C, H, W], regions [R, 4] and the number of an image for each");
  std::string mode = node.stringAttr("mode", "avg");
  std::string shift = node.opset() >= 16 ? node.stringAttr("coordinate_transformation_mode", "half_pixel")
                                         : std::string("output_half_pixel");
  int64_t height = node.intAttr("output_height", 1), width = node.intAttr("output_width", 1),
          samples = node.intAttr("sampling_ratio", 0);
  double scale = node.floatAttr("spatial_scale", 1);
  if (mode != "avg" && mode != "max")
    return node.error("attribute 'mode' = '" + mode + "' is not known");
  if (shift != "half_pixel" && shift != "output_half_pixel")
    return node.error("attribute 'coordinate_transformation_mode' = '" + shift + "' is not known");
  if (height < 1 || width < 1 || samples < 0 || height > kMostSamples || width > kMostSamples ||
      std::max<int64_t>(samples, 1) > kMostSamples / std::max(height, width))
    return node.error("takes 1 to " + Twine(kMostSamples) + " samples along a dimension");
  int64_t perRegion = height * width * std::max<int64_t>(samples, 1) * std::max<int64_t>(samples, 1);
  if (regions.getDimSize(0) > kMostOfRegions / perRegion)
    return node.error("takes at most " + Twine(kMostOfRegions) + " samples of all regions");
  RoiAlign align{node,          Formula(node),     {height, width},      samples, scale, shift == "half_pixel",
                 mode == "max", images.getShape(), regions.getDimSize(0)};
  bool isFixed = images.hasStaticShape() && regions.hasStaticShape() && node.type(2).hasStaticShape();
  return isFixed && samples > 0 && !Formula::isDouble(node.input(0)) ? align.run() : align.onHost();
}

void registerRoiAlign(Registry &registry) { registry.add("RoiAlign", {10, kMaxOpset, 3, 3, importRoiAlign}); }

} // namespace pto_mlir::onnx
