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

Status squeeze(const TensorCall &call) {
  const Shape &all = call.inputs[0].shape;
  Shape axes = parameter<Shape>(call, "axes", {}), shape;
  if (!normalize(axes, int64_t(all.size())))
    return Failure{"an axis is outside of the tensor"};
  for (size_t d = 0; d < all.size(); ++d)
    if (std::find(axes.begin(), axes.end(), int64_t(d)) == axes.end())
      shape.push_back(all[d]);
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

/// The slices of the data at each row of the indices, which name its first dimensions.
Status gatherNd(const TensorCall &call) {
  const TensorView &data = call.inputs[0];
  const Shape &places = call.inputs[1].shape;
  uint64_t depth = places.empty() ? 0 : uint64_t(places.back());
  if (places.empty() || depth > data.shape.size())
    return Failure{"the indices name more dimensions than the data have"};
  Shape shape(places.begin(), places.end() - 1), inner(data.shape.begin() + int64_t(depth), data.shape.end());
  shape.insert(shape.end(), inner.begin(), inner.end());
  std::vector<int64_t> indices = load<int64_t>(call.inputs[1]), strides = stridesOf(data.shape);
  uint64_t size = elementSize(data.type), bytes = countOf(inner) * size;
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  uint64_t rows = countOf(Shape(places.begin(), places.end() - 1));
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t offset = 0;
    for (uint64_t d = 0; d < depth; ++d) {
      int64_t index = indices[row * depth + d], extent = data.shape[d];
      if (index < -extent || index >= extent)
        return Failure{"an index is " + std::to_string(index) + ", but dimension " + std::to_string(d) + " has " +
                       std::to_string(extent) + " elements"};
      offset += uint64_t(index < 0 ? index + extent : index) * uint64_t(strides[d]);
    }
    if (bytes)
      std::memcpy(out + row * bytes, data.data + offset * size, bytes);
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
                              {"slice", 3, slice},     {"gather_nd", 2, gatherNd},  {"range", 3, range}};

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
