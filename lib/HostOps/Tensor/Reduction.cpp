// Reductions and cumulative operations.
#include "Wide.h"

#include <algorithm>
#include <limits>

namespace pto_mlir::hostops {

namespace {

// The reduction of the input to `kept`, its shape with 1 for each reduced dimension.
template <class V> std::vector<V> reduced(const TensorCall &call, const std::vector<int64_t> &kept) {
  bool isSum = call.name == "reduce_sum" || call.name == "reduce_mean", isProduct = call.name == "reduce_prod";
  std::vector<V> values = load<V>(call.inputs[0]), result(countOf(kept), isProduct ? V(1) : V(0));
  std::vector<uint64_t> seen(result.size(), 0);
  size_t at = 0;
  forEachOffset(call.inputs[0].shape, broadcastStrides(kept, call.inputs[0].shape), 0, [&](int64_t target) {
    V value = values[at++], &all = result[size_t(target)];
    if (isSum || isProduct)
      all = isSum ? sum(all, value) : product(all, value);
    else if (seen[size_t(target)] == 0 || (all == all && (call.name == "reduce_max" ? !(all > value) : !(all < value))))
      all = value;
    ++seen[size_t(target)];
  });
  if (call.name == "reduce_mean")
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = std::is_integral_v<V> && seen[i] == 0 ? V(0) : V(result[i] / V(seen[i]));
  return result;
}

template <class V> Status runReduce(const TensorCall &call) {
  const TensorView &input = call.inputs[0];
  size_t rank = input.shape.size();
  std::vector<int64_t> kept = input.shape, shape;
  std::vector<bool> isReduced(rank, false);
  for (int64_t axis : parameter<std::vector<int64_t>>(call, "axes", {})) {
    if (axis < 0 || axis >= int64_t(rank))
      return Failure{"an axis of the reduction is " + std::to_string(axis)};
    isReduced[size_t(axis)] = true;
    kept[size_t(axis)] = 1;
  }
  bool keep = parameter<int64_t>(call, "keepdims", 1) != 0;
  for (size_t d = 0; d < rank; ++d)
    if (keep || !isReduced[d])
      shape.push_back(kept[d]);
  if (countOf(input.shape) == 0 && countOf(kept) != 0 && (call.name == "reduce_max" || call.name == "reduce_min"))
    return Failure{"the greatest or least of no elements"};
  return finish(call, shape, [&] { return reduced<V>(call, kept); });
}

// cumsum and cumprod along `axis`; `exclusive` leaves the element itself out, `reverse` runs from the end.
template <class V> Status runCumulative(const TensorCall &call) {
  const TensorView &input = call.inputs[0];
  int64_t axis = parameter<int64_t>(call, "axis", 0);
  if (axis < 0 || axis >= int64_t(input.shape.size()))
    return Failure{"its axis is " + std::to_string(axis)};
  bool isExclusive = parameter<int64_t>(call, "exclusive", 0) != 0,
       isReverse = parameter<int64_t>(call, "reverse", 0) != 0;
  bool isProduct = call.name == "cumprod";
  int64_t length = input.shape[size_t(axis)], step = stridesOf(input.shape)[size_t(axis)];
  std::vector<int64_t> others = input.shape;
  others[size_t(axis)] = std::min<int64_t>(length, 1);
  return finish(call, input.shape, [&] {
    std::vector<V> values = load<V>(input);
    forEachOffset(others, stridesOf(input.shape), 0, [&](int64_t base) {
      V all = isProduct ? V(1) : V(0);
      for (int64_t i = 0; i < length; ++i) {
        V &value = values[size_t(base + (isReverse ? length - 1 - i : i) * step)], own = value;
        if (isExclusive)
          value = all;
        all = isProduct ? product(all, own) : sum(all, own);
        if (!isExclusive)
          value = all;
      }
    });
    return values;
  });
}

bool isReduce(std::string_view name) {
  return name == "reduce_sum" || name == "reduce_mean" || name == "reduce_max" || name == "reduce_min" ||
         name == "reduce_prod";
}
bool isCumulative(std::string_view name) { return name == "cumsum" || name == "cumprod"; }

} // namespace

bool hasReduction(std::string_view name, size_t inputs, ElementType type) {
  if (type == ElementType::Boolean)
    return false;
  return inputs == 1 && (isReduce(name) || isCumulative(name));
}

std::optional<Status> runReduction(const TensorCall &call) {
  if (!hasReduction(call.name, call.inputs.size(), call.inputs[0].type))
    return std::nullopt;
  return withClass(classOf(call.inputs[0].type), [&](auto number) -> Status {
    using V = decltype(number);
    return isCumulative(call.name) ? runCumulative<V>(call) : runReduce<V>(call);
  });
}

} // namespace pto_mlir::hostops
