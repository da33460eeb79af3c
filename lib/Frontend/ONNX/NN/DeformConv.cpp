// DeformConv: a pixel at a computed place for each tap of the filter, then a product with the filter.
#include "../Registry.h"
#include "../Tensor/Positions.h"
#include "AttentionParts.h"
#include "Sampling.h"
#include "Window.h"
#include "pto_mlir/Support/WindowSize.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

enum Input { kImages, kFilter, kOffset, kBias, kMask };

/// Taps of all pixels, in the order [tap, pixel].
constexpr int64_t kMostOfFilter = 1 << 24;

class DeformConv {
public:
  explicit DeformConv(Node &node) : node(node), f(node) {}

  LogicalResult read() {
    if (node.type(kImages).getRank() != 4 || node.type(kFilter).getRank() != 4 || node.type(kOffset).getRank() != 4)
      return node.error("takes images of two dimensions, a filter and offsets of rank 4");
    shape = node.type(kImages).getShape(), filter = node.type(kFilter).getShape();
    kernel = filter.drop_front(2), size = shape.drop_front(2);
    if (std::optional<SmallVector<int64_t>> given = node.intsAttr("kernel_shape");
        given && ArrayRef<int64_t>(*given) != kernel)
      return node.error("attribute 'kernel_shape' differs from the filter's shape");
    group = node.intAttr("group", 1), offsetGroup = node.intAttr("offset_group", 1);
    std::optional<Window> read = readWindow(node, kernel, /*hasDilations=*/true);
    if (!read)
      return failure();
    window = *read;
    if (group < 1 || offsetGroup < 1 || shape[1] % group || shape[1] % offsetGroup || filter[0] % group ||
        shape[1] / group != filter[1])
      return node.error("cannot divide " + Twine(shape[1]) + " channels into " + Twine(group) + " groups and " +
                        Twine(offsetGroup) + " groups of offsets");
    for (int64_t d : {0, 1}) {
      auto steps = windowOutputSize(size[d], kernel[d], window.strides[d], window.dilations[d], window.pads[d],
                                    window.pads[2 + d], false);
      if (!steps)
        return node.error("the filter does not fit the image");
      out.push_back(*steps);
    }
    taps = kernel[0] * kernel[1], pixels = out[0] * out[1];
    auto fits = [&](unsigned input, int64_t channels) {
      return !node.has(input) ||
             node.type(input).getShape() == ArrayRef<int64_t>{shape[0], offsetGroup * channels, out[0], out[1]};
    };
    if (taps > kMostOfFilter / std::max<int64_t>(pixels, 1))
      return node.error("has over " + Twine(kMostOfFilter) + " places");
    return fits(kOffset, 2 * taps) && fits(kMask, taps)
               ? success()
               : node.error("offsets and mask do not fit the filter and the result");
  }

  LogicalResult run() {
    int64_t images = shape[0] * offsetGroup, channels = shape[1] / offsetGroup;
    Value offsets = node.reshape("", node.input(kOffset), {images, taps, 2, pixels});
    std::vector<std::vector<Tap>> places{tapsOf(offsets, 0), tapsOf(offsets, 1)};
    Value picked = sampleRows(node, channelRows(node, node.input(kImages), offsetGroup),
                              rangeAlong(node, 3, 0, images, size[0] * size[1]), places, size);
    if (picked && node.has(kMask))
      picked = f.of<top::MulOp>(picked, node.reshape("", node.input(kMask), {images * taps * pixels, 1}));
    // [images, tap, pixel, channel] -> [batch, group, channel of the group and tap, pixel]
    picked = picked ? node.reshape("", picked, {images, taps, pixels, channels}) : picked;
    picked = picked ? f.of<top::PermuteOp>(picked, {node.i64s("perm", {0, 3, 1, 2})}) : picked;
    picked = picked ? node.reshape("", picked, {shape[0], group, filter[1] * taps, pixels}) : picked;
    Value weights = node.reshape("", node.input(kFilter), {group, filter[0] / group, filter[1] * taps});
    Value product = picked && weights ? f.of<top::MatMulOp>(weights, picked) : Value();
    SmallVector<int64_t> result{shape[0], filter[0], out[0], out[1]};
    if (!product || !node.has(kBias))
      return product ? node.finish(node.reshape(node.outputName(), product, result)) : failure();
    product = node.reshape("", product, result);
    return f.result<top::AddOp>(product, node.reshape("", node.input(kBias), {filter[0], 1, 1}));
  }

private:
  /// Where all taps lie along `dim` without offsets, [taps, pixels].
  Value undisplaced(int64_t dim) {
    std::vector<double> places;
    places.reserve(taps * pixels);
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        int64_t k = dim ? tap % kernel[1] : tap / kernel[1], o = dim ? pixel % out[1] : pixel / out[1];
        places.push_back(double(o * window.strides[dim] - window.pads[dim] + k * window.dilations[dim]));
      }
    return floats(node, {taps, pixels}, places);
  }

  /// The two pixels around each place, as [images, places, 1]; outside of the image the weight is 0.
  std::vector<Tap> tapsOf(Value offsets, int64_t dim) {
    Value own = sliceDim(node, offsets, 2, dim, dim + 1);
    int64_t images = shape[0] * offsetGroup;
    own = own ? castTo(node, node.reshape("", own, {images, taps, pixels}), node.builder().getF32Type()) : own;
    Value x = own ? f.of<top::AddOp>(own, undisplaced(dim)) : own;
    x = x ? node.reshape("", x, {images, taps * pixels, 1}) : x;
    Value low = f.of<top::FloorOp>(x), t = f.of<top::SubOp>(x, low);
    std::vector<Tap> both;
    for (bool isSecond : {false, true}) {
      Value position = isSecond ? f.of<top::AddOp>(low, 1.0) : low;
      Value weight = !t || isSecond ? t : f.of<top::SubOp>(f.constant(t, 1), t);
      Value pixel = f.of<top::MinOp>(f.of<top::MaxOp>(position, 0.0), double(size[dim] - 1));
      both.push_back({pixel, f.where(f.compare(position, "eq", pixel), weight, t ? f.constant(t, 0) : t)});
    }
    return both;
  }

  Node &node;
  Formula f;
  ArrayRef<int64_t> shape, filter, kernel, size;
  SmallVector<int64_t> out;
  Window window;
  int64_t group = 1, offsetGroup = 1, taps = 0, pixels = 0;
};

LogicalResult importDeformConv(Node &node) {
  DeformConv conv(node);
  return failed(conv.read()) ? failure() : conv.run();
}

} // namespace

void registerDeformConv(Registry &registry) { registry.add("DeformConv", {19, kMaxOpset, 3, 5, importDeformConv}); }

} // namespace pto_mlir::onnx
