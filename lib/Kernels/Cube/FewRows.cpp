//===- FewRows.cpp - smaller blocks for products of few rows --------------===//
//
// A kernel whose rows are known at run time has the tiles of the greatest number
// of rows. With few rows most cores would be without work: they share smaller
// blocks then, which the same tiles hold.
//
//===----------------------------------------------------------------------===//

#include "TilingCandidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pto_mlir::cube {

namespace {

// Part of the time that smaller blocks may take to be worth it, also as a logarithm, and most kinds of them.
constexpr double kWorth = 0.98, kChange = 0.02;
constexpr size_t kMostKinds = 6;

class FewRowsSearch {
public:
  FewRowsSearch(const CubeProblem &problem, const CubeLimits &limits, const Follower *follower,
                const CubeTiling &tiling)
      : problem(problem), limits(limits), follower(follower), tiling(tiling), widths{tiling.blockN} {
    if (!follower && tiling.blockN > kFractal)
      for (int64_t width : blockSizes(problem.n, tiling.blockN - kFractal, kFractal))
        widths.push_back(width);
  }

  /// The best blocks for `rows` rows; those of all rows where others are not worth it.
  FewRows best(int64_t rows) const {
    FewRows best{rows, tiling.blockM, tiling.blockN, tiling.grid.m};
    double least = kWorth * cyclesOf(best);
    for (int64_t width : widths)
      for (int64_t height = kFractal; height <= std::min(tiling.baseM, roundUp(rows, kFractal)); height += kFractal)
        // As many cores along the rows as there are blocks, or only those that columns leave.
        for (int64_t most : {problem.cores, std::max<int64_t>(1, problem.cores / ceilDiv(problem.n, width))}) {
          FewRows blocks{rows, std::min(height, tiling.blockM), width, most};
          if (double cycles = cyclesOf(blocks); cycles < least)
            best = blocks, least = cycles;
        }
    return best;
  }

  double leastCycles(int64_t rows) const { return cyclesOf(best(rows)); }

  /// Cycles of the busiest core, and of the vector cores that follow it.
  double cyclesOf(const FewRows &blocks) const {
    CubeProblem few = problem;
    few.m = blocks.rows;
    CubeTiling t = tiling;
    t.blockM = blocks.blockM, t.blockN = blocks.blockN;
    t.baseM = roundUp(t.blockM, kFractal), t.baseN = roundUp(t.blockN, kFractal);
    CubeBlocks count = countBlocks(few, t);
    int64_t gridM = std::min(blocks.gridM, count.m);
    t.grid = {1, std::min(problem.cores / gridM, count.n), gridM};
    ExpectedCycles cube = expectedCycles(few, t, limits, hasOneAccumulator(tiling, limits));
    if (!follower)
      return cube.all;
    int64_t rows = std::min(few.m, ceilDiv(count.m, t.grid.m) * t.blockM),
            columns = std::min(few.n, ceilDiv(count.n, t.grid.n) * t.blockN);
    auto tiles = double(ceilDiv(rows, t.blockM) * ceilDiv(columns, t.blockN));
    double vector = tiles * follower->perTile + double(rows * columns) * follower->perElement;
    return std::max(vector + cube.firstTile, cube.all + vector / tiles);
  }

private:
  const CubeProblem &problem;
  const CubeLimits &limits;
  const Follower *follower;
  const CubeTiling &tiling;
  std::vector<int64_t> widths;
};

/// 16, 32, 48, 64, 96, 128, 192, .. below the greatest number.
std::vector<int64_t> someRows(int64_t greatest) {
  std::vector<int64_t> rows;
  for (int64_t power = kFractal; power < greatest; power *= 2)
    for (int64_t some : {power, power + power / 2})
      if (some < greatest && some % kFractal == 0)
        rows.push_back(some);
  return rows;
}

bool sameBlocks(const FewRows &a, const FewRows &b) {
  return a.blockM == b.blockM && a.blockN == b.blockN && a.gridM == b.gridM;
}

/// A kind for each number of rows, of which `costs` has one row: those of the least sum, where each change from one
/// number of rows to the next one, and from the greatest one to the last kind, costs kChange; at most kMostKinds
/// changes.
std::vector<size_t> cheapestKinds(const std::vector<std::vector<double>> &costs, size_t kinds) {
  // From the greatest number downward: the least cost so far by the changes and the kind, and the kind above.
  using Row = std::vector<std::vector<double>>;
  Row least(kMostKinds + 1, std::vector<double>(kinds, std::numeric_limits<double>::infinity()));
  least[0][kinds - 1] = 0;
  std::vector<std::vector<std::vector<size_t>>> above(costs.size());
  for (size_t i = costs.size(); i-- > 0;) {
    Row next = least;
    above[i].assign(kMostKinds + 1, std::vector<size_t>(kinds));
    for (size_t changes = 0; changes <= kMostKinds; ++changes)
      for (size_t kind = 0; kind < kinds; ++kind) {
        double &cost = next[changes][kind];
        above[i][changes][kind] = kind;
        if (changes > 0) {
          const std::vector<double> &before = least[changes - 1];
          size_t other = std::min_element(before.begin(), before.end()) - before.begin();
          if (before[other] + kChange < cost)
            cost = before[other] + kChange, above[i][changes][kind] = other;
        }
        cost += costs[i][kind];
      }
    least = std::move(next);
  }
  size_t changes = 0, kind = 0;
  for (size_t some = 0; some <= kMostKinds; ++some)
    for (size_t other = 0; other < kinds; ++other)
      if (least[some][other] < least[changes][kind])
        changes = some, kind = other;
  std::vector<size_t> chosen;
  for (size_t i = 0; i < costs.size(); ++i) {
    chosen.push_back(kind);
    size_t from = above[i][changes][kind];
    changes -= from != kind;
    kind = from;
  }
  return chosen;
}

} // namespace

std::vector<FewRows> chooseFewRows(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &tiling,
                                   const Follower *follower) {
  std::vector<FewRows> chosen;
  if (problem.cores == 1)
    return chosen;
  FewRowsSearch search(problem, limits, follower, tiling);
  std::vector<int64_t> rows = someRows(problem.m);
  std::vector<FewRows> kinds;
  auto add = [&](const FewRows &blocks) {
    kinds.erase(std::remove_if(kinds.begin(), kinds.end(), [&](auto &kind) { return sameBlocks(kind, blocks); }),
                kinds.end());
    kinds.push_back(blocks);
  };
  for (int64_t some : rows)
    add(search.best(some));
  add({problem.m, tiling.blockM, tiling.blockN, tiling.grid.m});
  std::vector<std::vector<double>> costs;
  for (int64_t some : rows) {
    std::vector<double> &cost = costs.emplace_back();
    for (FewRows kind : kinds) {
      kind.rows = some;
      cost.push_back(std::log(search.cyclesOf(kind)));
    }
  }
  std::vector<size_t> cheapest = cheapestKinds(costs, kinds.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const FewRows &kind = kinds[cheapest[i]];
    if (chosen.empty() || !sameBlocks(chosen.back(), kind))
      chosen.push_back(kind);
    chosen.back().rows = rows[i];
  }
  if (!chosen.empty() && sameBlocks(chosen.back(), kinds.back()))
    chosen.pop_back();
  return chosen;
}

std::vector<double> logCyclesByRows(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &tiling,
                                    const Follower *follower) {
  FewRowsSearch search(problem, limits, follower, tiling);
  std::vector<double> logs;
  for (int64_t rows = problem.m; rows >= std::min(kFractal, problem.m); rows /= 2)
    logs.push_back(std::log(search.leastCycles(rows)));
  return logs;
}

std::vector<double> compareForAllRows(const std::vector<std::vector<double>> &logCycles) {
  std::vector<double> least = logCycles.front();
  for (const std::vector<double> &other : logCycles)
    for (size_t i = 0; i < least.size(); ++i)
      least[i] = std::min(least[i], other[i]);
  double mean = std::accumulate(least.begin(), least.end(), 0.0) / double(least.size());
  std::vector<double> cycles;
  for (const std::vector<double> &some : logCycles) {
    double loss = 0;
    for (size_t i = 0; i < least.size(); ++i)
      loss = std::max(loss, some[i] - least[i]);
    cycles.push_back(std::exp(mean + loss));
  }
  return cycles;
}

} // namespace pto_mlir::cube
