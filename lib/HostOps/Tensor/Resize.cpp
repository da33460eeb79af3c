// Interpolation to sizes that another tensor says, as ONNX's Resize.
#include "Wide.h"

#include "pto_mlir/Support/ResizeTaps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;
using Taps = std::vector<std::vector<ResizeTap>>;

struct Request {
  Shape sizes;
  std::vector<double> scales;
};

/// Each size is the input's times its scale, rounded down; in float32, as onnxruntime computes it.
bool applyScales(const std::vector<double> &given, const Shape &axes, Request &request) {
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t &size = request.sizes[size_t(axes[i])];
    float wanted = std::floor(static_cast<float>(given[i]) * static_cast<float>(size));
    if (!(given[i] > 0) || !(wanted <= float(kMostElements)))
      return false;
    request.scales[size_t(axes[i])] = given[i];
    size = static_cast<int64_t>(wanted);
  }
  return true;
}

bool applySizes(const std::vector<double> &given, const Shape &axes, std::string_view policy, Request &request) {
  float common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    auto at = size_t(axes[i]);
    if (!(given[i] >= 0 && given[i] <= double(kMostElements)) || (request.sizes[at] == 0 && given[i] != 0))
      return false;
    auto scale = static_cast<float>(given[i]) / static_cast<float>(std::max<int64_t>(request.sizes[at], 1));
    request.scales[at] = scale;
    common = i == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    auto at = size_t(axes[i]);
    if (policy != "stretch")
      request.scales[at] = common;
    request.sizes[at] = policy == "stretch"
                            ? int64_t(given[i])
                            : int64_t(std::floor(common * static_cast<float>(request.sizes[at]) + 0.5f));
  }
  return true;
}

Result<Request> requestOf(const TensorCall &call, const Shape &axes) {
  Request request{call.inputs[0].shape, std::vector<double>(call.inputs[0].shape.size(), 1)};
  bool isInside = std::all_of(axes.begin(), axes.end(),
                              [&](int64_t axis) { return axis >= 0 && axis < int64_t(request.sizes.size()); });
  std::vector<double> given = load<double>(call.inputs[1]);
  if (!isInside || given.size() != axes.size() ||
      !(parameter<int64_t>(call, "sizes", 0)
            ? applySizes(given, axes, parameter<std::string>(call, "policy", "stretch"), request)
            : applyScales(given, axes, request)))
    return Failure{"a resize takes a possible size, or a positive scale, for each of its axes"};
  return request;
}

/// The taps of each dimension; no list where nothing changes.
Result<std::vector<Taps>> tapsOf(const TensorCall &call, const Request &request, const Shape &axes) {
  std::string mode = parameter<std::string>(call, "mode", "nearest"),
              coordinates = parameter<std::string>(call, "coordinates", "half_pixel"),
              nearest = parameter<std::string>(call, "nearest_mode", "round_prefer_floor");
  bool crops = coordinates == "tf_crop_and_resize";
  std::vector<double> roi = crops && call.inputs.size() == 3 ? load<double>(call.inputs[2]) : std::vector<double>();
  if (crops && roi.size() != 2 * axes.size())
    return Failure{"a resize of a crop takes two numbers for each of its axes"};
  std::vector<Taps> taps(request.sizes.size());
  for (size_t d = 0; d < taps.size(); ++d) {
    ResizeLine line{mode, coordinates, nearest, call.inputs[0].shape[d], request.sizes[d], request.scales[d]};
    auto at = size_t(std::find(axes.begin(), axes.end(), int64_t(d)) - axes.begin());
    if (crops && at < axes.size())
      line.roiStart = roi[at], line.roiEnd = roi[at + axes.size()];
    line.cubicA = parameter<double>(call, "cubic_coeff_a", -0.75);
    line.excludeOutside = parameter<int64_t>(call, "exclude_outside", 0) != 0;
    line.antialias = parameter<int64_t>(call, "antialias", 0) != 0;
    line.isDouble = call.inputs[0].type == ElementType::F64;
    if (crops || line.in != line.out || line.scale != 1)
      taps[d] = resizeTaps(line);
  }
  return taps;
}

/// `values` of `shape`, interpolated along dimension d; `shape` becomes the result's. Integers are copied.
template <class V> std::vector<V> interpolated(const std::vector<V> &values, Shape &shape, size_t d, const Taps &taps) {
  auto in = size_t(shape[d]), inner = size_t(countOf(Shape(shape.begin() + int64_t(d) + 1, shape.end())));
  std::vector<V> result(values.size() / in * taps.size());
  for (size_t outer = 0, at = 0; outer < values.size() / (in * inner); ++outer)
    for (const std::vector<ResizeTap> &list : taps)
      for (size_t i = 0; i < inner; ++i, ++at)
        for (const ResizeTap &tap : list)
          result[at] = sum(result[at], product(V(tap.weight), values[(outer * in + size_t(tap.index)) * inner + i]));
  shape[d] = int64_t(taps.size());
  return result;
}

} // namespace

Status resize(const TensorCall &call) {
  Shape all(call.inputs[0].shape.size());
  for (size_t d = 0; d < all.size(); ++d)
    all[d] = int64_t(d);
  Shape axes = parameter<Shape>(call, "axes", all);
  auto request = requestOf(call, axes);
  if (!request)
    return request.failure();
  bool isCopy = parameter<std::string>(call, "mode", "nearest") == "nearest";
  if (call.resultType != call.inputs[0].type || (!isCopy && classOf(call.resultType) != NumberClass::Float))
    return Failure{"a resize interpolates floats only"};
  if (countOf(request->sizes) == 0)
    return finish(call, request->sizes, [] { return std::vector<double>(); });
  if (countOf(call.inputs[0].shape) == 0)
    return Failure{"a resize of no elements"};
  auto made = allocate(call, request->sizes);
  if (!made)
    return made.failure();
  auto taps = tapsOf(call, *request, axes);
  if (!taps)
    return taps.failure();
  return withClass(classOf(call.resultType), [&](auto number) -> Status {
    using V = decltype(number);
    std::vector<V> values = load<V>(call.inputs[0]);
    Shape shape = call.inputs[0].shape;
    double outside = parameter<double>(call, "extrapolation_value", 0);
    std::vector<char> isOutside(1, 0);
    for (size_t d = 0; d < shape.size(); ++d) {
      const Taps &list = (*taps)[d];
      if (!list.empty())
        values = interpolated(values, shape, d, list);
      std::vector<char> next;
      for (char before : isOutside)
        for (int64_t i = 0; i < shape[d]; ++i)
          next.push_back(char(before || (!list.empty() && list[size_t(i)].empty())));
      isOutside = std::move(next);
    }
    for (size_t i = 0; i < values.size(); ++i)
      if (isOutside[i])
        values[i] = V(outside);
    store(values, call.resultType, *made);
    return {};
  });
}

} // namespace pto_mlir::hostops
