//===- TilingChooser.cpp - sizes of a cube kernel -------------------------===//
//
// Two searches. The first takes one core and fixes how K is cut. The second
// keeps that cut and divides rows, columns and outer indices among the cores.
//
//===----------------------------------------------------------------------===//

#include "TilingCandidates.h"

#include <algorithm>
#include <tuple>

namespace pto_mlir::cube {

namespace {

// Ratio up to which the blocks' work counts as even, and the slowdown accepted for evenness.
constexpr double kEven = 1.15, kWorthEvenness = 1.4;
// Number of tilings kept beside the best one of a search.
constexpr size_t kRanked = 32;

/// Whether both give the same kernel, however they were found.
bool sameKernel(const CubeTiling &a, const CubeTiling &b) {
  auto parts = [](const CubeTiling &t) {
    return std::tuple(t.baseM, t.baseN, t.baseK, t.panelK, t.blockM, t.blockN, t.holdB, t.rowsOuter, t.heldK,
                      t.slabRows, t.slabCols, t.grid.outer, t.grid.n, t.grid.m);
  };
  return parts(a) == parts(b);
}

int64_t clampTo(int64_t value, int64_t low, int64_t high) { return std::max(low, std::min(value, high)); }

/// Parts of the search that do not depend on the number of cores.
class Search {
public:
  Search(const CubeProblem &problem, const CubeLimits &limits) : problem(problem), limits(limits) {
    int64_t columns = problem.bias ? limits.biasTable / 4 : kMaxBase;
    if (problem.columnScales)
      columns = std::min(columns, limits.fixpipe / 8);
    limitN = std::min(columns, kMaxBase) / kFractal * kFractal;
  }

  /// The best tilings that were tried, the best first.
  std::vector<CubeTiling> ranked;

  /// The best even tiling unless it costs too much, else the best one.
  std::optional<CubeTiling> result() const {
    if (even && even->cycles <= kWorthEvenness * best->cycles)
      return even;
    return best;
  }

protected:
  /// False where the slab does not serve every image.
  bool setSlab(CubeTiling &tiling, int64_t rows, int64_t cols) {
    tiling.slabRows = rows;
    tiling.slabH = slabFor(problem.image->h, rows);
    tiling.slabCols = cols;
    tiling.slabW = slabFor(problem.image->w, cols);
    return slabFits(problem.image->h, rows);
  }

  /// Tries what may stay in L1; true when every such choice fits.
  bool consider(CubeTiling tiling) {
    CubeBlocks blocks = countBlocks(problem, tiling);
    bool canTurn = !problem.patches && blocks.n > 1 && (!problem.image || blocks.panels == 1);
    bool all = true;
    for (bool rowsOuter : {false, true})
      for (bool holdB : {true, false}) {
        // Right tiles start on whole boxes of what is held.
        if (holdB && tiling.panelK < problem.k && tiling.panelK % kFractal != 0)
          continue;
        // A block of rows without an image is one tile: B comes by once.
        if (rowsOuter && (!canTurn || (holdB && !problem.image)))
          continue;
        tiling.rowsOuter = rowsOuter;
        tiling.holdB = holdB;
        tiling.heldK = rowsOuter && !problem.image ? heldColumns(tiling) : 0;
        // Smaller panels leave more room for what stays.
        if (rowsOuter && !problem.image && tiling.heldK < problem.k) {
          all &= holdB;
          if (tiling.heldK == 0)
            continue;
        }
        if (l1Bytes(problem, tiling, copies) > limits.l1) {
          all &= holdB;
          continue;
        }
        tiling.cycles = estimateCycles(problem, tiling, limits);
        rank(tiling);
        if (!best || tiling.cycles < best->cycles)
          best = tiling;
        if ((!even || tiling.cycles < even->cycles) && imbalance(problem, tiling) <= kEven)
          even = tiling;
      }
    return all;
  }

  void rank(const CubeTiling &tiling) {
    // Grids that keep as many cores busy give one tiling.
    auto same = [&](const CubeTiling &other) { return sameKernel(other, tiling); };
    if (std::any_of(ranked.begin(), ranked.end(), same))
      return;
    if (ranked.size() == kRanked && tiling.cycles >= ranked.back().cycles)
      return;
    auto place = std::upper_bound(ranked.begin(), ranked.end(), tiling,
                                  [](const CubeTiling &a, const CubeTiling &b) { return a.cycles < b.cycles; });
    ranked.insert(place, tiling);
    if (ranked.size() > kRanked)
      ranked.pop_back();
  }

  /// Columns of a block of A that fit L1 beside the panels: all, or whole panels.
  int64_t heldColumns(CubeTiling tiling) const {
    tiling.heldK = problem.k;
    if (l1Bytes(problem, tiling, copies) <= limits.l1)
      return problem.k;
    if (tiling.panelK % kFractal != 0)
      return 0;
    tiling.heldK = 0;
    int64_t room = limits.l1 - l1Bytes(problem, tiling, copies);
    int64_t panels = room / (tiling.baseM * tiling.panelK * problem.inBytes);
    return clampTo(panels, 0, (problem.k - 1) / tiling.panelK) * tiling.panelK;
  }

  const CubeProblem &problem;
  const CubeLimits &limits;
  int64_t limitN;
  int copies = 2;
  std::optional<CubeTiling> best, even;
};

/// All sizes for one core.
class OneCore : public Search {
public:
  using Search::Search;

  std::optional<CubeTiling> run() {
    for (copies = 2; copies > 0 && !best; --copies)
      problem.image ? searchImage() : searchPlain();
    return best;
  }

private:
  void searchPlain() {
    CubeTiling tiling{};
    tiling.slabRows = tiling.slabCols = 1;
    const auto &patches = problem.patches;
    for (int64_t blockM : patches ? patchBlocks(*patches, problem.m / patches->width, kMaxBase)
                                  : blockSizes(problem.m, kMaxBase, kFractal)) {
      tiling.blockM = blockM;
      tiling.baseM = roundUp(blockM, kFractal);
      searchN(tiling);
    }
  }

  void searchImage() {
    const ConvImage &image = *problem.image;
    CubeTiling tiling{};
    for (int64_t rows : slabSizes(image.h.out)) {
      if (setSlab(tiling, rows, image.w.out))
        searchM(tiling);
    }
    // Not one row of slabs fits: cut the row too.
    for (int64_t cols = ceilDiv(image.w.out, 2); !best && cols > 0; cols = cols == 1 ? 0 : ceilDiv(cols, 2)) {
      if (setSlab(tiling, 1, cols))
        searchM(tiling);
    }
  }

  void searchM(CubeTiling tiling) {
    tiling.blockM = tiling.slabRows * tiling.slabCols;
    for (int64_t baseM : blockSizes(tiling.blockM, kMaxBase, kFractal)) {
      tiling.baseM = baseM;
      searchN(tiling);
    }
  }

  void searchN(CubeTiling tiling) {
    if (limitN == 0)
      return;
    for (int64_t baseN : blockSizes(problem.n, limitN, kFractal)) {
      tiling.baseN = tiling.blockN = baseN;
      if (tiling.baseM * baseN * 4 <= limits.l0c)
        searchPanel(tiling);
    }
  }

  void searchPanel(CubeTiling tiling) {
    for (int64_t panelK : panels(problem)) {
      tiling.panelK = panelK;
      tiling.baseK = baseKFor(problem, limits, tiling.baseM, tiling.baseN, panelK);
      if (tiling.baseK == 0)
        return;
      bool strips = problem.patches && problem.patches->strips > 1;
      if (!problem.image && !strips && panelK < problem.k)
        tiling.panelK = std::max(tiling.baseK, panelK / tiling.baseK * tiling.baseK);
      // Smaller panels only add loads.
      if (consider(tiling) && panelK < problem.k)
        return;
    }
  }
};

/// Divides a problem whose K is cut as in `cut` among cores.
class ManyCores : public Search {
public:
  ManyCores(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &cut)
      : Search(problem, limits), cut(cut) {}

  std::optional<CubeTiling> run() {
    for (copies = 2; copies > 0 && !best; --copies)
      for (int64_t outer = 1; outer <= std::min(problem.outer, problem.cores); ++outer) {
        // Skip grids with idle cores.
        int64_t share = ceilDiv(problem.outer, outer);
        if (ceilDiv(problem.outer, share) != outer)
          continue;
        for (int64_t n = 1; n * outer <= problem.cores; ++n)
          searchGrid({outer, n, problem.cores / (outer * n)});
      }
    return result();
  }

private:
  // Enough candidates of each kind; more change nothing.
  static constexpr size_t kTries = 3;

  void searchGrid(CoreGrid grid) {
    int64_t share = ceilDiv(problem.n, grid.n);
    int64_t most = std::min(limitN, limits.l0b / (2 * cut.baseK * problem.inBytes));
    CubeTiling tiling = cut;
    // Whole fractals are best for the cube, 16 bytes for the loads.
    for (int64_t unit : {16, 8, 4})
      for (int64_t blockN : blockSizes(share, most, unit, kTries)) {
        tiling.blockN = blockN;
        tiling.baseN = roundUp(blockN, kFractal);
        problem.image ? searchSlabs(tiling, grid) : searchRows(tiling, grid);
      }
  }

  /// Rows of the largest left tile.
  int64_t limitM(int64_t baseN) const {
    return std::min({limits.l0a / (2 * cut.baseK * problem.inBytes), limits.l0c / (4 * baseN), kMaxBase}) / kFractal *
           kFractal;
  }

  void searchRows(CubeTiling tiling, const CoreGrid &grid) {
    int64_t limit = limitM(tiling.baseN);
    std::vector<int64_t> blocks;
    if (const auto &patches = problem.patches) {
      int64_t rows = ceilDiv(problem.m / patches->width, grid.m);
      blocks = patchBlocks(*patches, rows, limit);
    } else {
      int64_t share = ceilDiv(problem.m, grid.m);
      for (int64_t unit : {16, 1})
        for (int64_t blockM : blockSizes(share, limit, unit, kTries + 1))
          blocks.push_back(blockM);
    }
    for (int64_t blockM : blocks) {
      tiling.blockM = blockM;
      tiling.baseM = roundUp(blockM, kFractal);
      place(tiling, grid);
    }
  }

  void searchSlabs(CubeTiling tiling, const CoreGrid &grid) {
    const ConvImage &image = *problem.image;
    int64_t width = image.w.out, outputs = image.h.out * width;
    if (cut.slabCols != width) {
      searchTiles(tiling, grid);
      return;
    }
    size_t fitting = 0;
    for (int64_t turns = 1; fitting < kTries; turns += ceilDiv(turns, 3)) {
      int64_t cuts = clampTo(grid.m * turns / image.batch, 1, outputs);
      int64_t part = ceilDiv(outputs, cuts);
      bool fits = false;
      for (int64_t block : {part, roundUp(part, width)}) {
        tiling.blockM = block;
        if (setSlab(tiling, rowsTouched(block, width, image.h.out), width))
          fits |= searchTiles(tiling, grid);
      }
      fitting += fits;
      if (cuts == outputs)
        return;
    }
  }

  /// Rows that a run of `block` outputs may lie in, when runs follow one
  /// another from the first output on.
  static int64_t rowsTouched(int64_t block, int64_t width, int64_t rows) {
    if (block % width == 0 || width % block == 0)
      return ceilDiv(block, width);
    return std::min(rows, (block + width - 2) / width + 1);
  }

  bool searchTiles(CubeTiling tiling, const CoreGrid &grid) {
    bool fits = false;
    for (int64_t baseM : blockSizes(tiling.blockM, limitM(tiling.baseN), kFractal, kTries)) {
      tiling.baseM = baseM;
      fits |= place(tiling, grid);
    }
    return fits;
  }

  /// Considers the tiling on the part of the grid that it keeps busy.
  bool place(CubeTiling tiling, const CoreGrid &grid) {
    CubeBlocks blocks = countBlocks(problem, tiling);
    auto used = [](int64_t count, int64_t cores) { return ceilDiv(count, ceilDiv(count, cores)); };
    tiling.grid = {grid.outer, used(blocks.n, grid.n), used(blocks.m, grid.m)};
    return consider(tiling);
  }

  const CubeTiling &cut;
};

} // namespace

std::vector<CubeTiling> rankCubeTilings(const CubeProblem &problem, const CubeLimits &limits, size_t most) {
  CubeProblem alone = problem;
  alone.cores = 1;
  OneCore one(alone, limits);
  std::optional<CubeTiling> cut = one.run();
  if (!cut)
    return {};
  CubeTiling best = *cut;
  std::vector<CubeTiling> ranked = one.ranked;
  if (problem.cores > 1) {
    ManyCores many(problem, limits, *cut);
    if (auto shared = many.run())
      best = *shared, ranked = many.ranked;
  }
  std::vector<CubeTiling> result{best};
  bool even = imbalance(problem, best) <= kEven;
  for (const CubeTiling &tiling : ranked) {
    bool same = tiling.blockM == best.blockM && tiling.blockN == best.blockN && tiling.baseM == best.baseM &&
                tiling.rowsOuter == best.rowsOuter && tiling.holdB == best.holdB;
    // K is cut alike on any number of cores.
    bool sameSums = tiling.panelK == cut->panelK && tiling.baseK == cut->baseK;
    if (result.size() < most && !same && sameSums && (!even || imbalance(problem, tiling) <= kEven))
      result.push_back(tiling);
  }
  for (CubeTiling &tiling : result)
    tiling.loads = loadedBytes(problem, tiling, limits);
  return result;
}

std::optional<CubeTiling> chooseCubeTiling(const CubeProblem &problem, const CubeLimits &limits) {
  std::vector<CubeTiling> best = rankCubeTilings(problem, limits, 1);
  return best.empty() ? std::nullopt : std::optional(best.front());
}

} // namespace pto_mlir::cube
