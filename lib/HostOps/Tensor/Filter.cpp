// Operations whose number of results depends on values: compress, parts of a split, unique and its places,
// nonmaxsuppression.
#include "Wide.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;

/// A tensor as slices along the parameter `axis`; without one, each element is a slice.
struct Slices {
  int64_t outer = 1, count = 1, inner = 1;
  Shape shape; ///< of the result, whose dimension `axis` is `count`
  size_t axis = 0;

  explicit Slices(const TensorCall &call) : shape(call.inputs[0].shape) {
    int64_t given = parameter<int64_t>(call, "axis", -1);
    if (given < 0 || given >= int64_t(shape.size())) {
      count = int64_t(countOf(shape));
      shape = {count};
      return;
    }
    axis = size_t(given);
    count = shape[axis];
    for (size_t d = 0; d < shape.size(); ++d)
      (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
  }
};

/// The slices with these numbers.
Status take(const TensorCall &call, const Slices &slices, const std::vector<int64_t> &numbers) {
  Shape shape = slices.shape;
  shape[slices.axis] = int64_t(numbers.size());
  auto out = allocate(call, shape);
  if (!out)
    return out.failure();
  const TensorView &data = call.inputs[0];
  uint64_t bytes = uint64_t(slices.inner) * elementSize(data.type);
  std::byte *to = *out;
  for (int64_t outer = 0; outer < slices.outer && bytes != 0; ++outer)
    for (int64_t number : numbers) {
      std::memcpy(to, data.data + uint64_t(outer * slices.count + number) * bytes, bytes);
      to += bytes;
    }
  return {};
}

Status compress(const TensorCall &call) {
  Slices slices(call);
  std::vector<int64_t> condition = load<int64_t>(call.inputs[1]), kept;
  for (int64_t i = 0; i < std::min<int64_t>(slices.count, int64_t(condition.size())); ++i)
    if (condition[size_t(i)] != 0)
      kept.push_back(i);
  return take(call, slices, kept);
}

/// One part of a tensor that sizes divide, which add up to its extent.
Status splitPart(const TensorCall &call) {
  Slices slices(call);
  std::vector<int64_t> sizes = load<int64_t>(call.inputs[1]), kept;
  int64_t part = parameter<int64_t>(call, "part", 0), begin = 0, left = slices.count;
  if (part < 0 || uint64_t(part) >= sizes.size())
    return Failure{"a split into " + std::to_string(sizes.size()) + " parts has no part " + std::to_string(part)};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > left)
      return Failure{"the sizes of a split do not add up to " + std::to_string(slices.count)};
    begin += int64_t(i) < part ? sizes[i] : 0;
    left -= sizes[i];
  }
  if (left != 0)
    return Failure{"the sizes of a split add up to " + std::to_string(slices.count - left) + ", not to " +
                   std::to_string(slices.count)};
  kept.resize(uint64_t(sizes[size_t(part)]));
  std::iota(kept.begin(), kept.end(), begin);
  return take(call, slices, kept);
}

/// Equal slices of a tensor, in the order of the results.
struct Groups {
  std::vector<int64_t> first, counts; ///< of each group
  std::vector<int64_t> group;         ///< of each slice
};

template <class V> Groups groupsOf(const Slices &slices, const std::vector<V> &values, bool sorted) {
  // -1, 0 or 1; NaN is equal to itself and behind all numbers.
  auto compare = [&](int64_t a, int64_t b) {
    for (int64_t outer = 0; outer < slices.outer; ++outer)
      for (int64_t i = 0; i < slices.inner; ++i) {
        V x = values[size_t((outer * slices.count + a) * slices.inner + i)],
          y = values[size_t((outer * slices.count + b) * slices.inner + i)];
        bool isLess = x < y || (x == x && y != y), isGreater = y < x || (y == y && x != x);
        if (isLess || isGreater)
          return isLess ? -1 : 1;
      }
    return 0;
  };
  std::vector<int64_t> order(size_t(slices.count));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    int side = compare(a, b);
    return side < 0 || (side == 0 && a < b);
  });
  Groups sortedGroups;
  sortedGroups.group.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[i - 1], order[i]) != 0) {
      sortedGroups.first.push_back(order[i]);
      sortedGroups.counts.push_back(0);
    }
    ++sortedGroups.counts.back();
    sortedGroups.group[size_t(order[i])] = int64_t(sortedGroups.first.size()) - 1;
  }
  if (sorted)
    return sortedGroups;
  std::vector<int64_t> byFirst(sortedGroups.first.size()), place(byFirst.size());
  std::iota(byFirst.begin(), byFirst.end(), 0);
  std::sort(byFirst.begin(), byFirst.end(),
            [&](int64_t a, int64_t b) { return sortedGroups.first[size_t(a)] < sortedGroups.first[size_t(b)]; });
  Groups groups;
  for (size_t i = 0; i < byFirst.size(); ++i) {
    place[size_t(byFirst[i])] = int64_t(i);
    groups.first.push_back(sortedGroups.first[size_t(byFirst[i])]);
    groups.counts.push_back(sortedGroups.counts[size_t(byFirst[i])]);
  }
  for (int64_t group : sortedGroups.group)
    groups.group.push_back(place[size_t(group)]);
  return groups;
}

Status unique(const TensorCall &call) {
  Slices slices(call);
  bool sorted = parameter<int64_t>(call, "sorted", 1) != 0;
  std::vector<int64_t> ranks;
  if (call.inputs[0].type == ElementType::String) {
    auto made = ranksOfStrings(call, call.inputs[0]);
    if (!made)
      return made.failure();
    ranks = made.take();
  }
  Groups groups = call.inputs[0].type == ElementType::String
                      ? groupsOf(slices, ranks, sorted)
                      : withClass(classOf(call.inputs[0].type), [&](auto number) {
                          return groupsOf(slices, load<decltype(number)>(call.inputs[0]), sorted);
                        });
  if (call.name == "unique")
    return take(call, slices, groups.first);
  const std::vector<int64_t> &result = call.name == "unique_indices"  ? groups.first
                                       : call.name == "unique_counts" ? groups.counts
                                                                      : groups.group;
  return finish(call, {int64_t(result.size())}, [&] { return result; });
}

/// A box by its least and greatest coordinates, in f32 as everything here.
struct Box {
  float least[2], greatest[2];

  Box(const double *values, bool byCenter) {
    for (int d = 0; d < 2; ++d) {
      auto a = float(values[d]), b = float(values[d + 2]);
      least[d] = byCenter ? a - b / 2 : std::min(a, b);
      greatest[d] = byCenter ? a + b / 2 : std::max(a, b);
    }
  }
  float area() const { return (greatest[0] - least[0]) * (greatest[1] - least[1]); }
};

bool overlaps(const Box &a, const Box &b, float most) {
  float sides[2];
  for (int d = 0; d < 2; ++d) {
    float begin = std::max(a.least[d], b.least[d]), end = std::min(a.greatest[d], b.greatest[d]);
    if (end <= begin)
      return false;
    sides[d] = end - begin;
  }
  float shared = sides[0] * sides[1], both = a.area() + b.area() - shared;
  return shared > 0 && a.area() > 0 && b.area() > 0 && both > 0 && shared / both > most;
}

/// Boxes [B, N, 4], scores [B, C, N]; of one element each: the most boxes of a class, the most overlap, and, if the
/// parameter `has_score_threshold` is set, the score to exceed. Rows (batch, class, box), by descending scores.
Status nonMaxSuppression(const TensorCall &call) {
  const TensorView &boxes = call.inputs[0], &scores = call.inputs[1];
  if (boxes.shape.size() != 3 || scores.shape.size() != 3 || boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] ||
      boxes.shape[1] != scores.shape[2] || countOf(call.inputs[2].shape) != 1 || countOf(call.inputs[3].shape) != 1 ||
      countOf(call.inputs[4].shape) != 1)
    return Failure{"expects boxes [B, N, 4], scores [B, C, N] and three numbers"};
  std::vector<double> coordinates = load<double>(boxes), values = load<double>(scores);
  int64_t most = load<int64_t>(call.inputs[2])[0], count = boxes.shape[1], classes = scores.shape[1];
  auto overlap = float(load<double>(call.inputs[3])[0]);
  double threshold = load<double>(call.inputs[4])[0];
  bool byCenter = parameter<int64_t>(call, "center_point_box", 0) != 0;
  bool hasThreshold = parameter<int64_t>(call, "has_score_threshold", 0) != 0;
  std::vector<int64_t> rows;
  for (int64_t series = 0; series < boxes.shape[0] * classes; ++series) {
    const double *score = values.data() + series * count;
    const double *box = coordinates.data() + series / classes * count * 4;
    std::vector<int64_t> order, chosen;
    for (int64_t i = 0; i < count; ++i)
      if (!hasThreshold || score[i] > threshold)
        order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
    for (int64_t i : order) {
      if (int64_t(chosen.size()) >= most)
        break;
      Box own(box + i * 4, byCenter);
      if (std::any_of(chosen.begin(), chosen.end(),
                      [&](int64_t other) { return overlaps(own, Box(box + other * 4, byCenter), overlap); }))
        continue;
      chosen.push_back(i);
      rows.insert(rows.end(), {series / classes, series % classes, i});
    }
  }
  return finish(call, {int64_t(rows.size() / 3), 3}, [&] { return rows; });
}

} // namespace

bool hasFilter(std::string_view name, size_t inputs) {
  bool isUnique = name == "unique" || name == "unique_indices" || name == "unique_inverse" || name == "unique_counts";
  return (isUnique && inputs == 1) || ((name == "compress" || name == "split_part") && inputs == 2) ||
         (name == "nonmaxsuppression" && inputs == 5);
}

std::optional<Status> runFilter(const TensorCall &call) {
  if (!hasFilter(call.name, call.inputs.size()))
    return std::nullopt;
  bool keepsType = call.name == "unique" || call.inputs.size() == 2;
  if (call.resultType != (keepsType ? call.inputs[0].type : ElementType::I64))
    return Failure{"selects elements into another type"};
  if (call.inputs.size() == 2)
    return call.name == "compress" ? compress(call) : splitPart(call);
  return call.inputs.size() == 1 ? unique(call) : nonMaxSuppression(call);
}

} // namespace pto_mlir::hostops
