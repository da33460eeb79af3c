#include "pto_mlir/Support/ResizeTaps.h"

#include <algorithm>
#include <cmath>

namespace pto_mlir {
namespace {

// One dimension of a resize, whose coordinates are of type F.
template <class F> struct Line {
  std::string_view mode, coordinates, nearest;
  int64_t in, out;
  F scale, roiStart, roiEnd;
  double cubicA;
  bool excludeOutside, antialias;

  F coordinate(int64_t o) const;
  int64_t nearestIndex(F x) const;
  std::vector<ResizeTap> around(F x) const;
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
template <class F> std::vector<ResizeTap> Line<F>::around(F x) const {
  double stretch = antialias && scale < 1 ? 1 / static_cast<double>(scale) : 1,
         radius = (mode == "linear" ? 1 : 2) * stretch;
  std::vector<ResizeTap> taps;
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

template <class F> std::vector<std::vector<ResizeTap>> tapsOf(const ResizeLine &of) {
  Line<F> line{of.mode,
               of.coordinates,
               of.nearest,
               of.in,
               of.out,
               static_cast<F>(of.scale),
               static_cast<F>(of.roiStart),
               static_cast<F>(of.roiEnd),
               of.cubicA,
               of.excludeOutside,
               of.antialias};
  bool crop = line.coordinates == "tf_crop_and_resize";
  std::vector<std::vector<ResizeTap>> result(static_cast<size_t>(line.out));
  for (int64_t o = 0; o < line.out; ++o) {
    std::vector<ResizeTap> &taps = result[static_cast<size_t>(o)];
    if (line.scale == 1 && line.in == line.out && !crop) {
      taps.push_back({o, 1});
      continue;
    }
    F x = line.coordinate(o);
    if (crop && (x < 0 || x > static_cast<F>(line.in - 1)))
      continue;
    if (line.mode == "nearest")
      taps.push_back({line.nearestIndex(x), 1});
    else
      taps = line.around(x);
  }
  return result;
}

} // namespace

std::vector<std::vector<ResizeTap>> resizeTaps(const ResizeLine &line) {
  return line.isDouble ? tapsOf<double>(line) : tapsOf<float>(line);
}

} // namespace pto_mlir
