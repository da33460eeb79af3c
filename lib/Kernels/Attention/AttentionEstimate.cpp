//===- AttentionEstimate.cpp - one kernel or separate ones ----------------===//

#include "pto_mlir/Kernels/AttentionEstimate.h"

#include "pto_mlir/Kernels/CubeTiling.h"

#include <algorithm>
#include <cmath>

namespace pto_mlir::attention {

namespace {

using cost::Way;

/// Cores that share the memory's rate for a cube core that loads K and V beside both of its vector cores; by
/// benchmarks/silicon/decode.py.
constexpr double kReaders = 1.3;

class Estimate {
public:
  Estimate(const AttentionProblem &p, int64_t group, const AttentionLimits &limits, const cube::CubeLimits &cubes)
      : p(p), group(group), limits(limits), cubes(cubes), prices(cubes.prices) {}

  /// Cycles of one kernel.
  double together(const AttentionTiling &t) const {
    auto units = double(t.units(p)), tiles = double(t.tiles(p));
    double rounds = std::ceil(units / double(limits.blocks)), active = std::min(units, double(limits.blocks));
    double tile = std::max(loads(t, active), vectors(t));
    return prices.launch() + rounds * tiles * tile + double(kAhead) * latency(t, tile);
  }

  /// Cycles of both products and the softmax between them.
  std::optional<double> apart() const {
    auto scores = product(p.keys, p.depth), sums = product(p.valueDepth, p.keys);
    if (!scores || !sums)
      return std::nullopt;
    return 3 * prices.launch() + *scores + softmax() + *sums;
  }

private:
  /// Of the cube core per tile: K and V, which no other block has read, and the weights.
  double loads(const AttentionTiling &t, double active) const {
    auto bytes = double(t.keys * (p.depth + p.valueDepth) * p.bytes);
    double weights = double(t.strips) * prices.transfer(Way::ToL1, double(t.rows * t.keys * p.bytes));
    double shared = double(t.units(p)) / double(p.heads / group); // units that read the same
    // Beside it both vector cores load what they hand over.
    double readers = t.share < t.rows ? kReaders * active : active;
    return 2 * prices.start(Way::ToL1) + bytes * prices.readPerByte(Way::ToL1, readers, 1 / shared) + weights;
  }

  /// Of a vector core per tile: scores in, weights out, sums in; four passes over scores, two over sums, and the
  /// reductions.
  double vectors(const AttentionTiling &t) const {
    auto rows = double(t.strips * t.share);
    double scores = rows * double(t.keys), sums = rows * double(p.valueDepth);
    double starts = double(t.strips * std::min(kHalves, t.share));
    double compute = (4 * scores + 2 * sums) * prices.operationPerElement() + starts * 8 * prices.operation();
    double reduce = (t.ones ? 1 : 2) * starts * prices.vector("trowmax", t.chunk, t.keys, 4);
    return compute + reduce;
  }

  double latency(const AttentionTiling &t, double tile) const {
    return prices.start(Way::FromL0C) + prices.start(Way::ToUB) + prices.start(Way::FromUB) + prices.start(Way::ToL1) +
           tile / 2;
  }

  std::optional<double> product(int64_t n, int64_t k) const {
    cube::CubeProblem c;
    c.m = group * p.queries, c.n = n, c.k = k;
    c.outer = p.heads / group;
    c.inBytes = unsigned(p.bytes), c.outBytes = 4;
    c.cores = limits.blocks;
    auto tiling = cube::chooseCubeTiling(c, cubes);
    if (!tiling)
      return std::nullopt;
    return cube::expectedCycles(c, *tiling, cubes, cube::hasOneAccumulator(*tiling, cubes)).all;
  }

  /// Rows of scores over the vector cores.
  double softmax() const {
    int64_t rows = ceilDiv(p.heads * p.queries, prices.vectorCores());
    auto elements = double(rows * p.keys);
    double compute = 5 * (elements * prices.operationPerElement() + prices.operation());
    double reduce = 2 * prices.vector("trowmax", rows, p.keys, 4);
    double move = elements * (4 * prices.perByte(Way::ToUB) + double(p.bytes) * prices.perByte(Way::FromUB));
    return compute + reduce + move + prices.start(Way::ToUB) + prices.start(Way::FromUB);
  }

  const AttentionProblem &p;
  int64_t group;
  const AttentionLimits &limits;
  const cube::CubeLimits &cubes;
  const cost::Prices &prices;
};

} // namespace

std::optional<AttentionTimes> estimateAttention(const AttentionProblem &problem, int64_t group,
                                                std::string_view architecture) {
  auto limits = attentionLimits(architecture);
  auto cubes = cube::cubeLimits(architecture);
  auto tiling = limits ? chooseAttentionTiling(problem, *limits) : std::nullopt;
  if (!tiling || !cubes)
    return std::nullopt;
  Estimate estimate(problem, group, *limits, *cubes);
  auto apart = estimate.apart();
  if (!apart)
    return std::nullopt;
  return AttentionTimes{cubes->prices.seconds(estimate.together(*tiling)), cubes->prices.seconds(*apart)};
}

} // namespace pto_mlir::attention
