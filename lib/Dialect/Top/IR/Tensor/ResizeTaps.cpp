#include "pto_mlir/Dialect/Top/IR/ResizeTaps.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::top {
namespace {

// Parameters of one dimension of a resize, whose coordinates are of type F.
template <class F> struct Line {
  StringRef mode, coordinates, nearest;
  int64_t in, out;
  F scale, roiStart, roiEnd;
  double cubicA;
  bool excludeOutside, antialias;

  F coordinate(int64_t o) const;
  int64_t nearestIndex(F x) const;
  SmallVector<ResizeTap, 4> around(F x) const;
  double kernel(double distance) const;
};

template <class F> F Line<F>::coordinate(int64_t o) const {
  F x = static_cast<F>(o), inF = static_cast<F>(in), outF = static_cast<F>(out);
  if (coordinates == "asymmetric")
    return x / scale;
  if (coordinates == "align_corners")
    return out == 1 ? 0 : x * (inF - 1) / (outF - 1);
  if (coordinates == "tf_half_pixel_for_nn")
    return (x + F(0.5)) / scale;
  if (coordinates == "tf_crop_and_resize")
    return out > 1 ? roiStart * (inF - 1) + x * (roiEnd - roiStart) * (inF - 1) / (outF - 1)
                   : F(0.5) * (roiStart + roiEnd) * (inF - 1);
  if (coordinates == "pytorch_half_pixel" && out == 1)
    return 0;
  F halfPixel = (x + F(0.5)) / scale - F(0.5);
  if (coordinates == "half_pixel_symmetric") {
    // The fraction of a pixel lost by rounding the size down is distributed to both ends (half_pixel_symmetric).
    F adjustment = outF / (scale * inF);
    return inF / 2 * (1 - adjustment) + halfPixel;
  }
  return halfPixel;
}

template <class F> int64_t Line<F>::nearestIndex(F x) const {
  F rounded;
  if (nearest == "floor" || (nearest == "simple" && scale >= 1))
    rounded = std::floor(x);
  else if (nearest == "ceil" || nearest == "simple")
    rounded = std::ceil(x);
  else if (nearest == "round_prefer_ceil")
    rounded = std::floor(x + F(0.5));
  else
    rounded = std::ceil(x - F(0.5));
  return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, in - 1);
}

template <class F> double Line<F>::kernel(double distance) const {
  double x = std::fabs(distance);
  if (mode == "linear")
    return std::max(0.0, 1 - x);
  if (x < 1)
    return ((cubicA + 2) * x - (cubicA + 3)) * x * x + 1;
  return x < 2 ? ((cubicA * x - 5 * cubicA) * x + 8 * cubicA) * x - 4 * cubicA : 0;
}

// The taps of linear and cubic interpolation around x; the kernel is stretched for antialiased downsampling.
template <class F> SmallVector<ResizeTap, 4> Line<F>::around(F x) const {
  double stretch = antialias && scale < 1 ? 1 / static_cast<double>(scale) : 1,
         radius = (mode == "linear" ? 1 : 2) * stretch;
  SmallVector<ResizeTap, 4> taps;
  double sum = 0;
  for (int64_t i = static_cast<int64_t>(std::ceil(x - radius)); i <= static_cast<int64_t>(std::floor(x + radius));
       ++i) {
    double weight = kernel((static_cast<double>(x) - static_cast<double>(i)) / stretch);
    if (weight == 0 || (excludeOutside && (i < 0 || i >= in))) // otherwise the border is replicated
      continue;
    sum += weight;
    int64_t index = std::clamp<int64_t>(i, 0, in - 1);
    if (!taps.empty() && taps.back().index == index)
      taps.back().weight += weight;
    else
      taps.push_back({index, weight});
  }
  for (ResizeTap &tap : taps)
    tap.weight /= sum;
  return taps;
}

template <class F> std::vector<SmallVector<ResizeTap, 4>> tapsOf(ResizeOp op, int64_t dim) {
  Line<F> line;
  line.mode = op.getMode();
  line.coordinates = op.getCoordinates();
  line.nearest = op.getNearestMode();
  line.in = op.getInput().getType().getDimSize(dim);
  line.out = op.getSizes()[dim];
  line.scale = static_cast<F>(op.getScales()[dim]);
  bool crop = line.coordinates == "tf_crop_and_resize";
  line.roiStart = crop ? static_cast<F>((*op.getRoi())[dim]) : 0;
  line.roiEnd = crop ? static_cast<F>((*op.getRoi())[dim + op.getSizes().size()]) : 1;
  line.cubicA = op.getCubicCoeffA().convertToDouble();
  line.excludeOutside = op.getExcludeOutside();
  line.antialias = op.getAntialias();
  std::vector<SmallVector<ResizeTap, 4>> result(line.out);
  for (int64_t o = 0; o < line.out; ++o) {
    if (line.scale == 1 && line.in == line.out && !crop) {
      result[o].push_back({o, 1});
      continue;
    }
    F x = line.coordinate(o);
    if (crop && (x < 0 || x > static_cast<F>(line.in - 1)))
      continue;
    if (line.mode == "nearest")
      result[o].push_back({line.nearestIndex(x), 1});
    else
      result[o] = line.around(x);
  }
  return result;
}

} // namespace

std::vector<SmallVector<ResizeTap, 4>> resizeTaps(ResizeOp op, int64_t dim) {
  return op.getType().getElementType().isF64() ? tapsOf<double>(op, dim) : tapsOf<float>(op, dim);
}

std::optional<SmallVector<int64_t>> copiedIndices(ArrayRef<SmallVector<ResizeTap, 4>> taps) {
  SmallVector<int64_t> indices;
  for (const auto &list : taps) {
    if (list.size() != 1 || list.front().weight != 1)
      return std::nullopt;
    indices.push_back(list.front().index);
  }
  return indices;
}

bool repeatsEach(ArrayRef<int64_t> indices, int64_t size) {
  int64_t count = indices.size(), times = count / size;
  for (auto [i, index] : llvm::enumerate(indices))
    if (count % size || index != static_cast<int64_t>(i) / times)
      return false;
  return true;
}

bool stepsEvenly(ArrayRef<int64_t> indices) {
  int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step)
      return false;
  return step > 0;
}

} // namespace pto_mlir::top
