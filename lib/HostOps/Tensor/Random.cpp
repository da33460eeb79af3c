// Random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), a function of
// a key and a counter, so that each element's number follows from the seed, the node, the call and the element's place.
#include "Wide.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace pto_mlir::hostops {

namespace {

using Shape = std::vector<int64_t>;
using Block = std::array<uint32_t, 4>;

Block philox(Block counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key0, uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ key1, uint32_t(a)};
  }
  return counter;
}

/// The numbers of one call.
class Numbers {
public:
  explicit Numbers(const TensorCall &call)
      : node(uint64_t(parameter<int64_t>(call, "node", 0))), seed(uint64_t(parameter<int64_t>(call, "seed", 0))),
        number(call.draw->call) {
    if (parameter<int64_t>(call, "has_seed", 0) == 0)
      seed = call.draw->entropy;
  }
  /// In [0, 1), with 53 bits; two for each place.
  std::array<double, 2> at(uint64_t place) const {
    // The call's upper bits go into the key: 2^32 calls have counters of their own.
    Block block = philox({uint32_t(place), uint32_t(place >> 32), uint32_t(number), uint32_t(node)},
                         uint32_t(seed) ^ uint32_t(number >> 32), uint32_t(seed >> 32) ^ uint32_t(node >> 32));
    auto unit = [](uint32_t high, uint32_t low) { return double((uint64_t(high) << 32 | low) >> 11) * 0x1p-53; };
    return {unit(block[0], block[1]), unit(block[2], block[3])};
  }

private:
  uint64_t node, seed, number;
};

/// `value` of each element's place.
template <class Value> Status fill(const TensorCall &call, const Shape &shape, Value value) {
  return finish(call, shape, [&] {
    std::vector<double> values(countOf(shape));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = value(i);
    return values;
  });
}

Status uniform(const TensorCall &call) {
  Numbers numbers(call);
  double low = parameter<double>(call, "low", 0), high = parameter<double>(call, "high", 1);
  // A number of the result's type may round up to `high`, which is not in the interval.
  double most = call.resultType == ElementType::F64   ? std::nextafter(high, low)
                : call.resultType == ElementType::F32 ? std::nextafter(float(high), float(low))
                                                      : high;
  return fill(call, parameter<Shape>(call, "shape", {}), [&](size_t i) {
    double value = low + (high - low) * numbers.at(i)[0];
    return low < high ? std::min(value, most) : value;
  });
}

/// By Box and Muller.
Status normal(const TensorCall &call) {
  Numbers numbers(call);
  double mean = parameter<double>(call, "mean", 0), scale = parameter<double>(call, "scale", 1);
  return fill(call, parameter<Shape>(call, "shape", {}), [&](size_t i) {
    auto [u, v] = numbers.at(i);
    return mean + scale * std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
  });
}

/// 1 with the probability of the element.
Status bernoulli(const TensorCall &call) {
  Numbers numbers(call);
  std::vector<double> chances = load<double>(call.inputs[0]);
  return fill(call, call.inputs[0].shape, [&](size_t i) { return numbers.at(i)[0] < chances[i] ? 1.0 : 0.0; });
}

/// Logarithms of weights [B, C] -> `size` columns for each row, chosen by the weights.
Status multinomial(const TensorCall &call) {
  Numbers numbers(call);
  const Shape &shape = call.inputs[0].shape;
  int64_t size = parameter<int64_t>(call, "size", 1);
  if (shape.size() != 2 || shape[1] < 1 || size < 0)
    return Failure{"takes logarithms [B, C]"};
  std::vector<double> logs = load<double>(call.inputs[0]), sums;
  auto columns = size_t(shape[1]);
  for (size_t row = 0; row < size_t(shape[0]); ++row) {
    const double *own = logs.data() + row * columns;
    double greatest = -HUGE_VAL, sum = 0;
    for (size_t i = 0; i < columns; ++i)
      greatest = std::max(greatest, own[i]);
    for (size_t i = 0; i < columns; ++i)
      sums.push_back(sum += std::isfinite(greatest) || std::isnan(own[i]) ? std::exp(own[i] - greatest)
                                                                          : double(own[i] == greatest));
    if (!(sum > 0))
      return Failure{"row " + std::to_string(row) + " has no weight"};
  }
  return fill(call, {shape[0], size}, [&](size_t i) {
    const double *own = sums.data() + i / size_t(size) * columns;
    double wanted = numbers.at(i)[0] * own[columns - 1];
    return double(std::upper_bound(own, own + columns - 1, wanted) - own);
  });
}

struct RandomRow {
  std::string_view name;
  Status (*run)(const TensorCall &);
};
constexpr RandomRow kRandomRows[] = {{"random_uniform", uniform},
                                     {"random_normal", normal},
                                     {"random_bernoulli", bernoulli},
                                     {"random_multinomial", multinomial}};

} // namespace

bool hasRandom(std::string_view name, size_t inputs) {
  return inputs == 1 &&
         std::any_of(std::begin(kRandomRows), std::end(kRandomRows), [&](auto &row) { return row.name == name; });
}

std::optional<Status> runRandom(const TensorCall &call) {
  for (const RandomRow &row : kRandomRows)
    if (row.name == call.name && call.inputs.size() == 1)
      return call.draw ? row.run(call) : Failure{"there are no random numbers outside of a run"};
  return std::nullopt;
}

} // namespace pto_mlir::hostops
