// Reductions, cumulative operations and matrix products.
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

template <class V> void addScaled(V *__restrict sums, V factor, const V *__restrict row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] = sum(sums[i], product(factor, row[i]));
}

template <class V> Status runMatMul(const TensorCall &call) {
  std::vector<int64_t> sizes[2], steps[2];
  TensorView batches[2];
  for (int i = 0; i < 2; ++i) {
    sizes[i] = call.inputs[size_t(i)].shape;
    size_t rank = sizes[i].size();
    if (rank < 2)
      return Failure{"a matrix product takes operands of rank 2 and more"};
    steps[i] = stridesOf(sizes[i]);
    if (parameter<int64_t>(call, i == 0 ? "transpose_a" : "transpose_b", 0)) {
      std::swap(sizes[i][rank - 2], sizes[i][rank - 1]);
      std::swap(steps[i][rank - 2], steps[i][rank - 1]);
    }
    batches[i].shape.assign(sizes[i].begin(), sizes[i].end() - 2);
  }
  auto batch = broadcastShape(batches);
  int64_t m = sizes[0].end()[-2], inner = sizes[0].back(), n = sizes[1].back();
  if (!batch || inner != sizes[1].end()[-2])
    return Failure{"the operands of a matrix product do not fit"};
  uint64_t biases = call.inputs.size() == 3 ? countOf(call.inputs[2].shape) : 0;
  if (call.inputs.size() == 3 && biases != uint64_t(n) && biases != 1)
    return Failure{"the bias of a matrix product does not fit"};
  std::vector<int64_t> shape = *batch;
  shape.insert(shape.end(), {m, n});
  return finish(call, shape, [&] {
    std::vector<V> a = load<V>(call.inputs[0]), b = load<V>(call.inputs[1]), result;
    if (m == 0 || n == 0)
      return result;
    std::vector<int64_t> starts[2];
    for (int i = 0; i < 2; ++i) {
      std::vector<int64_t> strides = broadcastStrides(batches[i].shape, *batch);
      for (int64_t &stride : strides)
        stride *= sizes[i].end()[-2] * sizes[i].back();
      forEachOffset(*batch, strides, 0, [&](int64_t offset) { starts[i].push_back(offset); });
    }
    std::vector<V> bias = biases ? load<V>(call.inputs[2]) : std::vector<V>{V(0)};
    // Rows of the second operand at once, which lie together then: the order of each sum stays.
    std::vector<V> second(size_t(inner * n)), sums(static_cast<size_t>(n));
    for (size_t g = 0; g < starts[0].size(); ++g) {
      for (int64_t k = 0; k < inner; ++k)
        for (int64_t column = 0; column < n; ++column)
          second[size_t(k * n + column)] = b[size_t(starts[1][g] + k * steps[1].end()[-2] + column * steps[1].back())];
      for (int64_t row = 0; row < m; ++row) {
        const V *left = a.data() + starts[0][g] + row * steps[0].end()[-2];
        for (int64_t column = 0; column < n; ++column)
          sums[size_t(column)] = bias[bias.size() == 1 ? 0 : size_t(column)];
        for (int64_t k = 0; k < inner; ++k)
          addScaled(sums.data(), left[k * steps[0].back()], second.data() + k * n, n);
        result.insert(result.end(), sums.begin(), sums.end());
      }
    }
    return result;
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
  return name == "matmul" ? inputs == 2 || inputs == 3 : inputs == 1 && (isReduce(name) || isCumulative(name));
}

std::optional<Status> runReduction(const TensorCall &call) {
  if (!hasReduction(call.name, call.inputs.size(), call.inputs[0].type))
    return std::nullopt;
  return withClass(classOf(call.inputs[0].type), [&](auto number) -> Status {
    using V = decltype(number);
    return call.name == "matmul"     ? runMatMul<V>(call)
           : isCumulative(call.name) ? runCumulative<V>(call)
                                     : runReduce<V>(call);
  });
}

} // namespace pto_mlir::hostops
