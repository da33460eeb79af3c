// Operations that select elements by their values or by computed places, as the top ops of those names.
#include "Wide.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;

Status topK(const TensorCall &call, bool places) {
  Shape shape = call.inputs[0].shape;
  bool isGiven = call.inputs.size() == 2; // by a tensor, also none
  if (isGiven && countOf(call.inputs[1].shape) != 1)
    return Failure{"takes one k"};
  int64_t k = isGiven ? load<int64_t>(call.inputs[1])[0] : parameter<int64_t>(call, "k", 0);
  int64_t size = shape.empty() ? 0 : shape.back();
  bool largest = parameter<int64_t>(call, "largest", 1) != 0;
  if (k < (isGiven ? 0 : 1) || k > size)
    return Failure{"k is " + std::to_string(k) + " for rows of " + std::to_string(size) + " elements"};
  shape.back() = k;
  return withClass(classOf(call.inputs[0].type), [&](auto number) -> Status {
    using V = decltype(number);
    std::vector<V> all = load<V>(call.inputs[0]), values;
    std::vector<int64_t> order(static_cast<size_t>(size)), chosen;
    for (const V *row = all.data(), *end = row + (k ? all.size() : 0); row != end; row += size) {
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) {
        return row[a] == row[b] ? a < b : largest ? row[a] > row[b] : row[a] < row[b];
      });
      chosen.insert(chosen.end(), order.begin(), order.begin() + k);
      for (int64_t i = 0; i < k && !places; ++i)
        values.push_back(row[order[size_t(i)]]);
    }
    return places ? finish(call, shape, [&] { return chosen; }) : finish(call, shape, [&] { return values; });
  });
}

/// The first (`last`: the last) place of the greatest or least element along `axis`; NaN is both, as in numpy.
Status extremumPlace(const TensorCall &call) {
  const TensorView &input = call.inputs[0];
  int64_t axis = parameter<int64_t>(call, "axis", 0);
  if (axis < 0 || axis >= int64_t(input.shape.size()))
    return Failure{"its axis is " + std::to_string(axis)};
  int64_t length = input.shape[size_t(axis)], step = stridesOf(input.shape)[size_t(axis)];
  Shape rows = input.shape;
  rows[size_t(axis)] = 1;
  Shape shape = rows;
  if (!parameter<int64_t>(call, "keepdims", 1))
    shape.erase(shape.begin() + axis);
  if (length == 0 && countOf(rows))
    return Failure{"the greatest or least of no elements"};
  bool isGreatest = call.name == "argmax", isLast = parameter<int64_t>(call, "last", 0) != 0;
  return withClass(classOf(input.type), [&](auto number) -> Status {
    using V = decltype(number);
    return finish(call, shape, [&] {
      std::vector<V> all = load<V>(input);
      std::vector<int64_t> places;
      forEachOffset(rows, stridesOf(input.shape), 0, [&](int64_t base) {
        int64_t place = 0;
        for (int64_t i = 1; i < length; ++i) {
          V x = all[size_t(base + i * step)], best = all[size_t(base + place * step)];
          bool isNan = x != x, wasNan = best != best, equal = x == best || (isNan && wasNan);
          if (equal ? isLast : !wasNan && (isNan || (isGreatest ? x > best : x < best)))
            place = i;
        }
        places.push_back(place);
      });
      return places;
    });
  });
}

Status gatherElements(const TensorCall &call) {
  const TensorView &data = call.inputs[0];
  const Shape &shape = call.inputs[1].shape;
  if (shape.empty() || data.shape.size() != shape.size() ||
      !std::equal(shape.begin(), shape.end() - 1, data.shape.begin()) || data.shape.back() == 0)
    return Failure{"data and indices have other rows"};
  auto made = allocate(call, shape);
  if (!made)
    return made.failure();
  std::byte *out = *made;
  std::vector<int64_t> indices = load<int64_t>(call.inputs[1]);
  int64_t size = data.shape.back(), bytes = int64_t(elementSize(data.type));
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t row = int64_t(i) / shape.back();
    int64_t place = std::clamp<int64_t>(indices[i] < 0 ? indices[i] + size : indices[i], 0, size - 1);
    std::memcpy(out + int64_t(i) * bytes, data.data + (row * size + place) * bytes, size_t(bytes));
  }
  return {};
}

template <class V> V combined(std::string_view reduction, V x, V y) {
  if (reduction == "add")
    return sum(x, y);
  if (reduction == "mul")
    return product(x, y);
  return reduction == "max" ? std::max(x, y) : reduction == "min" ? std::min(x, y) : y;
}

/// Each update replaces, or joins, the element of the data at its own place, but for the index along `axis`.
Status scatterElements(const TensorCall &call) {
  const TensorView &data = call.inputs[0], &updates = call.inputs[2];
  const Shape &shape = call.inputs[1].shape;
  int64_t axis = parameter<int64_t>(call, "axis", 0);
  bool fits = updates.type == data.type && updates.shape == shape && shape.size() == data.shape.size() && axis >= 0 &&
              axis < int64_t(shape.size());
  for (size_t d = 0; d < shape.size() && fits; ++d)
    fits = int64_t(d) == axis || shape[d] <= data.shape[d];
  if (!fits)
    return Failure{"the updates do not fit the data"};
  int64_t extent = data.shape[size_t(axis)];
  std::vector<int64_t> indices = load<int64_t>(call.inputs[1]), strides = stridesOf(data.shape);
  for (int64_t index : indices)
    if (index < -extent || index >= extent)
      return outside(index, size_t(axis), extent);
  std::string reduction = parameter<std::string>(call, "reduction", "none");
  int64_t step = strides[size_t(axis)];
  strides[size_t(axis)] = 0;
  return withClass(classOf(data.type), [&](auto number) -> Status {
    using V = decltype(number);
    std::vector<V> values = load<V>(data), given = load<V>(updates);
    size_t i = 0;
    forEachOffset(shape, strides, 0, [&](int64_t offset) {
      V &value = values[size_t(offset + (indices[i] < 0 ? indices[i] + extent : indices[i]) * step)];
      value = combined(reduction, value, given[i]);
      ++i;
    });
    return finish(call, data.shape, [&] { return values; });
  });
}

/// Each slice of the updates replaces, or joins, the slice of the data that its row of the indices names.
Status scatterNd(const TensorCall &call) {
  const TensorView &data = call.inputs[0], &updates = call.inputs[2];
  const Shape &places = call.inputs[1].shape;
  size_t depth = places.empty() ? 0 : size_t(places.back());
  if (places.empty() || depth > data.shape.size() || updates.type != data.type)
    return Failure{"the indices name more dimensions than the data have"};
  Shape inner(data.shape.begin() + int64_t(depth), data.shape.end()), wanted(places.begin(), places.end() - 1);
  size_t rows = countOf(wanted), slice = countOf(inner);
  wanted.insert(wanted.end(), inner.begin(), inner.end());
  if (updates.shape != wanted)
    return Failure{"the updates do not fit the data"};
  std::vector<int64_t> indices = load<int64_t>(call.inputs[1]), strides = stridesOf(data.shape), offsets(rows, 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t extent = data.shape[i % depth];
    if (indices[i] < -extent || indices[i] >= extent)
      return outside(indices[i], i % depth, extent);
    offsets[i / depth] += (indices[i] < 0 ? indices[i] + extent : indices[i]) * strides[i % depth];
  }
  std::string reduction = parameter<std::string>(call, "reduction", "none");
  return withClass(classOf(data.type), [&](auto number) -> Status {
    using V = decltype(number);
    std::vector<V> values = load<V>(data), given = load<V>(updates);
    for (size_t i = 0; i < given.size(); ++i) {
      V &value = values[size_t(offsets[i / slice]) + i % slice];
      value = combined(reduction, value, given[i]);
    }
    return finish(call, data.shape, [&] { return values; });
  });
}

Status scatter(const TensorCall &call) {
  const TensorView &data = call.inputs[0], &updates = call.inputs[2];
  std::vector<int64_t> positions = load<int64_t>(call.inputs[1]);
  std::string reduction = parameter<std::string>(call, "reduction", "none");
  if (data.shape.size() != 2 || updates.shape != Shape{int64_t(positions.size()), data.shape[1]} ||
      updates.type != data.type)
    return Failure{"the updates do not fit the data"};
  return withClass(classOf(data.type), [&](auto number) -> Status {
    using V = decltype(number);
    std::vector<V> values = load<V>(data), given = load<V>(updates);
    int64_t rows = data.shape[0], columns = data.shape[1];
    for (size_t i = 0; i < positions.size(); ++i)
      for (int64_t j = 0; j < columns && positions[i] >= 0 && positions[i] < rows; ++j) {
        V &value = values[size_t(positions[i] * columns + j)];
        value = combined(reduction, value, given[i * size_t(columns) + size_t(j)]);
      }
    return finish(call, data.shape, [&] { return values; });
  });
}

} // namespace

bool hasSelection(std::string_view name, size_t inputs) {
  return ((name == "topk_values" || name == "topk_indices") && (inputs == 1 || inputs == 2)) ||
         ((name == "argmax" || name == "argmin") && inputs == 1) || (name == "gather_elements" && inputs == 2) ||
         ((name == "scatter" || name == "scatter_elements" || name == "scatter_nd") && inputs == 3);
}

std::optional<Status> runSelection(const TensorCall &call) {
  if (!hasSelection(call.name, call.inputs.size()))
    return std::nullopt;
  bool places = call.name == "topk_indices", isTopK = places || call.name == "topk_values";
  if (call.name.starts_with("arg") ? call.resultType != ElementType::I64
                                   : !places && call.resultType != call.inputs[0].type)
    return Failure{"selects elements into another type"};
  if (isTopK)
    return topK(call, places);
  if (call.inputs.size() == 1)
    return extremumPlace(call);
  return call.inputs.size() == 2     ? gatherElements(call)
         : call.name == "scatter"    ? scatter(call)
         : call.name == "scatter_nd" ? scatterNd(call)
                                     : scatterElements(call);
}

} // namespace pto_mlir::hostops
