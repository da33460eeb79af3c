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

namespace pto_mlir::cube {

namespace {

// Part of the time that smaller blocks may take to be worth it, and most kinds of them.
constexpr double kWorth = 0.98;
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

private:
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
    double cube = estimateCycles(few, t, limits);
    if (!follower)
      return cube;
    int64_t rows = std::min(few.m, ceilDiv(count.m, t.grid.m) * t.blockM),
            columns = std::min(few.n, ceilDiv(count.n, t.grid.n) * t.blockN);
    auto tiles = double(ceilDiv(rows, t.blockM) * ceilDiv(columns, t.blockN));
    double vector = tiles * follower->perTile + double(rows * columns) * follower->perElement;
    return overlapped(cube, vector, tiles);
  }

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

} // namespace

std::vector<FewRows> chooseFewRows(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &tiling,
                                   const Follower *follower) {
  std::vector<FewRows> chosen;
  if (problem.cores == 1)
    return chosen;
  FewRowsSearch search(problem, limits, follower, tiling);
  for (int64_t rows : someRows(problem.m)) {
    FewRows blocks = search.best(rows);
    if (!chosen.empty() && sameBlocks(chosen.back(), blocks))
      chosen.back().rows = rows;
    else
      chosen.push_back(blocks);
  }
  const FewRows all{problem.m, tiling.blockM, tiling.blockN, tiling.grid.m};
  while (!chosen.empty() && sameBlocks(chosen.back(), all))
    chosen.pop_back();
  if (chosen.size() > kMostKinds)
    chosen.erase(chosen.begin(), chosen.end() - kMostKinds);
  return chosen;
}

double meanLogCycles(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &tiling,
                     const Follower *follower) {
  FewRowsSearch search(problem, limits, follower, tiling);
  double sum = 0;
  int64_t count = 0;
  for (int64_t rows = problem.m; rows >= std::min(kFractal, problem.m); rows /= 2, ++count)
    sum += std::log(search.leastCycles(rows));
  return sum / double(count);
}

} // namespace pto_mlir::cube
