// Operations whose result has a shape that other tensors say, as ONNX's of those names: what the sizes of a run decide.
#include "Wide.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;

/// The bytes of the input as a tensor of another shape with as many elements.
Status sameElements(const TensorCall &call, const Shape &shape) {
  uint64_t count = countOf(call.inputs[0].shape);
  if (countOf(shape) != count)
    return Failure{"a tensor of shape " + shapeText(std::span<const int64_t>(call.inputs[0].shape)) +
                   " has not as many elements as shape " + shapeText(std::span<const int64_t>(shape))};
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  if (count)
    std::memcpy(*made, call.inputs[0].data, count * elementSize(call.inputs[0].type));
  return {};
}

/// Axes of a tensor of the rank, none negative; false where one is outside of it.
bool normalize(Shape &axes, int64_t rank) {
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) { return axis >= 0 && axis < rank; });
}

Status shapeOf(const TensorCall &call) {
  const Shape &all = call.inputs[0].shape;
  int64_t rank = int64_t(all.size()), start = std::clamp<int64_t>(parameter<int64_t>(call, "start", 0), 0, rank);
  int64_t end = std::clamp<int64_t>(parameter<int64_t>(call, "end", rank), start, rank);
  return finish(call, {end - start}, [&] { return Shape(all.begin() + start, all.begin() + end); });
}

Status unsqueeze(const TensorCall &call) {
  Shape axes = parameter<Shape>(call, "axes", {}), shape = call.inputs[0].shape;
  if (!normalize(axes, int64_t(shape.size() + axes.size())))
    return Failure{"an axis is outside of the result"};
  std::sort(axes.begin(), axes.end());
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  return sameElements(call, shape);
}

/// `rest`: no other dimension has size 1, whose result would have another rank.
Status squeeze(const TensorCall &call) {
  const Shape &all = call.inputs[0].shape;
  Shape axes = parameter<Shape>(call, "axes", {}), shape;
  if (!normalize(axes, int64_t(all.size())))
    return Failure{"an axis is outside of the tensor"};
  for (size_t d = 0; d < all.size(); ++d)
    if (std::find(axes.begin(), axes.end(), int64_t(d)) == axes.end())
      shape.push_back(all[d]);
  if (parameter<int64_t>(call, "rest", 0) && std::count(shape.begin(), shape.end(), 1))
    return Failure{"a squeeze without axes of shape " + shapeText(std::span<const int64_t>(all)) +
                   " gives a tensor of rank less than " + std::to_string(shape.size())};
  return sameElements(call, shape);
}

Status flatten(const TensorCall &call) {
  const Shape &all = call.inputs[0].shape;
  int64_t axis = std::clamp<int64_t>(parameter<int64_t>(call, "axis", 1), 0, int64_t(all.size()));
  Shape front(all.begin(), all.begin() + axis), back(all.begin() + axis, all.end());
  return sameElements(call, {int64_t(countOf(front)), int64_t(countOf(back))});
}

Status reshape(const TensorCall &call) {
  const Shape &all = call.inputs[0].shape;
  Shape shape = load<int64_t>(call.inputs[1]);
  bool allowsZero = parameter<int64_t>(call, "allowzero", 0) != 0;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 0 && !allowsZero) {
      if (d >= all.size())
        return Failure{"a reshape keeps dimension " + std::to_string(d) + ", which the tensor lacks"};
      shape[d] = all[d];
    }
  if (auto open = std::find(shape.begin(), shape.end(), -1); open != shape.end()) {
    *open = 1;
    uint64_t rest = countOf(shape);
    *open = rest ? int64_t(countOf(all) / rest) : 0;
  }
  return sameElements(call, shape);
}

Status expand(const TensorCall &call) {
  const TensorView both[] = {call.inputs[0], {ElementType::F32, load<int64_t>(call.inputs[1]), nullptr}};
  auto shape = broadcastShape(both);
  if (!shape)
    return Failure{"the operand does not broadcast to the shape"};
  return moveStrided(call, *shape, broadcastStrides(call.inputs[0].shape, *shape));
}

/// Starts and ends beyond a dimension are its borders.
Status slice(const TensorCall &call) {
  Shape shape = call.inputs[0].shape, strides = stridesOf(shape), starts = load<int64_t>(call.inputs[1]),
        ends = load<int64_t>(call.inputs[2]), axes = parameter<Shape>(call, "axes", {}),
        steps = parameter<Shape>(call, "steps", {});
  if (starts.size() != ends.size() || axes.size() != starts.size() || steps.size() != starts.size() ||
      !normalize(axes, int64_t(shape.size())) || std::count(steps.begin(), steps.end(), 0))
    return Failure{"a slice takes for each of its axes a start, an end and a step other than 0"};
  int64_t base = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t size = shape[size_t(axes[i])], step = std::clamp(steps[i], -size - 1, size + 1);
    auto border = [&](int64_t at, bool isEnd) {
      at += at < 0 && at >= -size ? size : 0;
      return step > 0 ? std::clamp<int64_t>(at, 0, size)
                      : std::clamp<int64_t>(at, isEnd || size == 0 ? -1 : 0, size - 1);
    };
    int64_t start = border(starts[i], false),
            span = step > 0 ? border(ends[i], true) - start : start - border(ends[i], true);
    int64_t count = std::max<int64_t>((span + std::abs(step) - 1) / std::abs(step), 0);
    shape[size_t(axes[i])] = count;
    base += count ? start * strides[size_t(axes[i])] : 0;
    strides[size_t(axes[i])] *= step;
  }
  return moveStrided(call, shape, strides, base);
}

/// The slices of the data at each row of the indices, which name its first dimensions behind `batch_dims` in common.
Status gatherNd(const TensorCall &call) {
  const TensorView &data = call.inputs[0];
  const Shape &places = call.inputs[1].shape;
  uint64_t common = uint64_t(std::max<int64_t>(parameter<int64_t>(call, "batch_dims", 0), 0)),
           depth = places.empty() ? 0 : uint64_t(places.back());
  if (places.size() <= common || data.shape.size() < common + depth ||
      !std::equal(places.begin(), places.begin() + int64_t(common), data.shape.begin()))
    return Failure{"the indices name more dimensions than the data have, or have other batches"};
  Shape shape(places.begin(), places.end() - 1), inner(data.shape.begin() + int64_t(common + depth), data.shape.end());
  uint64_t rows = countOf(shape), inBatch = countOf(Shape(shape.begin() + int64_t(common), shape.end()));
  shape.insert(shape.end(), inner.begin(), inner.end());
  std::vector<int64_t> indices = load<int64_t>(call.inputs[1]), strides = stridesOf(data.shape);
  uint64_t size = elementSize(data.type), bytes = countOf(inner) * size,
           ofBatch = countOf(Shape(data.shape.begin() + int64_t(common), data.shape.end()));
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t offset = row / inBatch * ofBatch;
    for (uint64_t d = 0; d < depth; ++d) {
      int64_t index = indices[row * depth + d], extent = data.shape[common + d];
      if (index < -extent || index >= extent)
        return outside(index, size_t(common + d), extent);
      offset += uint64_t(index < 0 ? index + extent : index) * uint64_t(strides[common + d]);
    }
    if (bytes)
      std::memcpy(out + row * bytes, data.data + offset * size, bytes);
  }
  return {};
}

/// The tensor as often along each dimension as the second one says.
Status tile(const TensorCall &call) {
  Shape shape = call.inputs[0].shape, own = stridesOf(shape), times = load<int64_t>(call.inputs[1]), parts, strides;
  if (times.size() != shape.size() || std::any_of(times.begin(), times.end(), [](int64_t n) { return n < 0; }))
    return Failure{"a tile takes a number of repeats for each dimension, none negative"};
  for (size_t d = 0; d < times.size(); ++d) {
    parts.insert(parts.end(), {times[d], shape[d]});
    strides.insert(strides.end(), {0, own[d]});
    shape[d] *= std::min(times[d], int64_t(kMostElements) + 1);
  }
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  uint64_t size = elementSize(call.inputs[0].type);
  forEachOffset(parts, strides, 0, [&](int64_t offset) {
    std::memcpy(out, call.inputs[0].data + uint64_t(offset) * size, size);
    out += size;
  });
  return {};
}

/// The place of a dimension of `size` elements that a place along the padded one shows.
int64_t sourceOf(int64_t place, int64_t size, std::string_view mode) {
  if (place >= 0 && place < size)
    return place;
  if (mode == "edge")
    return std::clamp<int64_t>(place, 0, size - 1);
  int64_t period = mode == "wrap" ? size : std::max<int64_t>(2 * (size - 1), 1);
  int64_t at = (place % period + period) % period;
  return at < size ? at : period - at;
}

/// Of `axes`: as many begins, then as many ends; negative ones crop before anything is added. `mode` as in ONNX.
Status padded(const TensorCall &call) {
  const TensorView &data = call.inputs[0];
  Shape shape = data.shape, axes = parameter<Shape>(call, "axes", {}), pads = load<int64_t>(call.inputs[1]);
  std::string mode = parameter<std::string>(call, "mode", "constant");
  bool isConstant = mode == "constant";
  if (!normalize(axes, int64_t(shape.size())) || pads.size() != 2 * axes.size() ||
      std::any_of(pads.begin(), pads.end(), [](int64_t n) { return std::abs(n) > int64_t(kMostElements); }) ||
      (call.inputs.size() == 3 && (countOf(call.inputs[2].shape) != 1 || call.inputs[2].type != data.type)))
    return Failure{"a pad takes two sizes for each of its axes and one element"};
  std::vector<Shape> sources(shape.size()); // -1: the element
  for (size_t d = 0; d < shape.size(); ++d) {
    auto found = std::find(axes.begin(), axes.end(), int64_t(d));
    auto i = size_t(found - axes.begin());
    int64_t before = i < axes.size() ? pads[i] : 0, after = i < axes.size() ? pads[i + axes.size()] : 0;
    int64_t cut = std::max<int64_t>(-before, 0), left = shape[d] - cut - std::max<int64_t>(-after, 0);
    before = std::max<int64_t>(before, 0), after = std::max<int64_t>(after, 0);
    if (left < 0 || (left == 0 && before + after > 0 && !isConstant))
      return Failure{"pads leave nothing of dimension " + std::to_string(d) + " of " + std::to_string(shape[d]) +
                     " elements"};
    shape[d] = before + left + after;
    for (int64_t place = -before; place < left + after; ++place)
      sources[d].push_back(isConstant && (place < 0 || place >= left) ? -1 : cut + sourceOf(place, left, mode));
  }
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  Shape strides = stridesOf(data.shape), lines{0}; // where each line of the result begins in the data
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    Shape next;
    for (int64_t line : lines)
      for (int64_t source : sources[d])
        next.push_back(line < 0 || source < 0 ? -1 : line + source * strides[d]);
    lines = std::move(next);
  }
  const Shape places = shape.empty() ? Shape{0} : sources.back();
  uint64_t size = elementSize(data.type);
  std::vector<std::byte> none(size);
  const std::byte *element = call.inputs.size() == 3 ? call.inputs[2].data : none.data();
  std::byte *out = *made;
  for (int64_t line : lines)
    for (int64_t place : places) {
      std::memcpy(out, line < 0 || place < 0 ? element : data.data + uint64_t(line + place) * size, size);
      out += size;
    }
  return {};
}

/// From start to below limit, by delta.
Status range(const TensorCall &call) {
  if (std::any_of(call.inputs.begin(), call.inputs.end(), [](auto &input) { return countOf(input.shape) != 1; }))
    return Failure{"a range takes three numbers"};
  return withClass(classOf(call.inputs[0].type), [&](auto number) -> Status {
    using V = decltype(number);
    V start = load<V>(call.inputs[0])[0], limit = load<V>(call.inputs[1])[0], delta = load<V>(call.inputs[2])[0];
    if (delta == 0)
      return Failure{"the step of a range is 0"};
    double steps = std::ceil((double(limit) - double(start)) / double(delta));
    if (!(steps <= double(kMostElements)))
      return Failure{"a range has more than " + std::to_string(kMostElements) + " elements"};
    std::vector<V> all(uint64_t(std::max(steps, 0.0)));
    for (uint64_t i = 0; i < all.size(); ++i)
      all[i] = sum(start, product(V(i), delta));
    return finish(call, {int64_t(all.size())}, [&] { return all; });
  });
}

struct ShapeRow {
  std::string_view name;
  size_t inputs;
  Status (*run)(const TensorCall &);
};
constexpr ShapeRow kRows[] = {{"shape", 1, shapeOf},   {"unsqueeze", 1, unsqueeze}, {"squeeze", 1, squeeze},
                              {"flatten", 1, flatten}, {"reshape", 2, reshape},     {"expand", 2, expand},
                              {"slice", 3, slice},     {"gather_nd", 2, gatherNd},  {"range", 3, range},
                              {"tile", 2, tile},       {"pad", 2, padded},          {"pad", 3, padded}};

const ShapeRow *rowOf(std::string_view name, size_t inputs) {
  auto *row = std::find_if(std::begin(kRows), std::end(kRows),
                           [&](const ShapeRow &entry) { return entry.name == name && entry.inputs == inputs; });
  return row == std::end(kRows) ? nullptr : row;
}

} // namespace

bool hasShapes(std::string_view name, size_t inputs) { return rowOf(name, inputs) != nullptr; }

std::optional<Status> runShapes(const TensorCall &call) {
  const ShapeRow *row = rowOf(call.name, call.inputs.size());
  if (!row)
    return std::nullopt;
  if (call.resultType != (call.name == "shape" ? ElementType::I64 : call.inputs[0].type))
    return Failure{"moves elements into another type"};
  return row->run(call);
}

} // namespace pto_mlir::hostops
