//===- TilingCost.cpp - what a tiling needs and takes ---------------------===//
//
// Bytes of L1 and the time of the busiest core. The time takes each engine's
// busy cycles by the prices of lib/Cost and assumes that the engines overlap,
// which double buffering gives, but for what comes first and last.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Kernels/CubeTiling.h"

#include <algorithm>

namespace pto_mlir::cube {

namespace {

constexpr int64_t kFractal = 16;

// No rates but preferences: the part of hidden work that counts, so that little time does not buy much traffic; of
// loads more than of the rest, for all cores share the memory.
constexpr double kRestShare = 0.05, kTrafficShare = 0.8;

/// Bytes of the columns of the left operand that stay in L1.
int64_t heldBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  return tiling.baseM * roundUp(tiling.heldK, depthUnit(problem.inBytes)) * problem.inBytes;
}

/// Bytes of the left operand's panel or slab in L1.
int64_t leftPanelBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  if (!problem.image) {
    int64_t k = std::min(tiling.panelK, problem.k - tiling.heldK);
    return tiling.baseM * roundUp(k, depthUnit(problem.inBytes)) * problem.inBytes;
  }
  int64_t taps = problem.image->h.kernel * problem.image->w.kernel;
  int64_t channels = std::min(tiling.panelK, problem.k) / taps;
  return roundUp(tiling.slabH.extent * tiling.slabW.extent, kFractal) * channels * problem.inBytes;
}

int64_t rightPanelBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  int64_t k = tiling.holdB ? problem.k : std::min(tiling.panelK, problem.k);
  return roundUp(k, depthUnit(problem.inBytes)) * tiling.baseN * problem.inBytes;
}

/// What one extent comes to for the busiest core.
struct Share {
  Share(int64_t extent, int64_t blocks, int64_t block, int64_t cores)
      : blocks(ceilDiv(blocks, cores)), extent(std::min(this->blocks * block, extent)) {}
  int64_t blocks; ///< blocks of the core
  int64_t extent; ///< elements of them all
  /// Whole fractals of blocks that are cut into tiles.
  int64_t fractals(int64_t block, int64_t tile) const {
    auto ofBlock = [&](int64_t size) { return size / tile * ceilDiv(tile, kFractal) + ceilDiv(size % tile, kFractal); };
    int64_t last = extent - (blocks - 1) * block;
    return (blocks - 1) * ofBlock(block) + ofBlock(last);
  }
};

} // namespace

CubeBlocks countBlocks(const CubeProblem &problem, const CubeTiling &tiling) {
  CubeBlocks blocks;
  blocks.n = ceilDiv(problem.n, tiling.blockN);
  blocks.panels = ceilDiv(problem.k, tiling.panelK);
  blocks.steps = 0;
  for (int64_t k = 0; k < problem.k; k += tiling.panelK)
    blocks.steps += ceilDiv(std::min(tiling.panelK, problem.k - k), tiling.baseK);
  if (const auto &image = problem.image) {
    // Runs of outputs of one image, or parts of one row.
    bool wholeRows = tiling.slabCols == image->w.out;
    blocks.m = image->batch * (wholeRows ? ceilDiv(image->h.out * image->w.out, tiling.blockM)
                                         : image->h.out * ceilDiv(image->w.out, tiling.blockM));
    blocks.tiles = ceilDiv(tiling.blockM, tiling.baseM);
  } else if (const auto &patches = problem.patches) {
    // Whole rows of windows, or parts of one row.
    int64_t rows = problem.m / patches->width;
    blocks.m = tiling.blockM % patches->width == 0 ? ceilDiv(rows, tiling.blockM / patches->width)
                                                   : rows * ceilDiv(patches->width, tiling.blockM);
    blocks.tiles = 1;
  } else {
    blocks.m = ceilDiv(problem.m, tiling.blockM);
    blocks.tiles = 1;
  }
  return blocks;
}

bool holdsRightTile(const CubeProblem &problem, const CubeTiling &tiling) {
  return tiling.holdB && tiling.panelK >= problem.k && tiling.baseK >= problem.k;
}

bool hasOneAccumulator(const CubeTiling &tiling, const CubeLimits &limits) {
  return 2 * tiling.baseM * tiling.baseN * 4 > limits.l0c;
}

double imbalance(const CubeProblem &problem, const CubeTiling &tiling) {
  CubeBlocks blocks = countBlocks(problem, tiling);
  Share m(problem.m, blocks.m, tiling.blockM, tiling.grid.m);
  Share n(problem.n, blocks.n, tiling.blockN, tiling.grid.n);
  double busiest = double(ceilDiv(problem.outer, tiling.grid.outer)) * m.extent * n.extent;
  return busiest * problem.cores / (double(problem.outer) * problem.m * problem.n);
}

namespace {

/// Cycles that the engines of the busiest core are busy, and parts of them.
struct Work {
  Work(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits)
      : problem(problem), tiling(tiling), prices(limits.prices), b(countBlocks(problem, tiling)),
        m(problem.m, b.m, tiling.blockM, tiling.grid.m), n(problem.n, b.n, tiling.blockN, tiling.grid.n),
        outer(double(ceilDiv(problem.outer, tiling.grid.outer))), tilesM(double(m.blocks * b.tiles)),
        tiles(outer * double(n.blocks) * tilesM) {
    setProduct();
    setExtract();
    setLoad();
    store = outer * double(m.extent) * double(n.extent) * problem.outBytes * prices.perByte(cost::Way::FromL0C) +
            tiles * prices.start(cost::Way::FromL0C);
  }

  const CubeProblem &problem;
  const CubeTiling &tiling;
  const cost::Prices &prices;
  CubeBlocks b;
  Share m, n;
  double outer, tilesM, tiles;
  double product = 0, extract = 0, load = 0, store = 0;
  double firstLoad = 0, firstExtract = 0, lastProduct = 0; // which overlap with nothing
  double loadedBytes = 0;                                  // by all cores

  /// That of the last tile; with one accumulator only no store overlaps the next tile.
  double lastStore(bool oneAccumulator) const { return oneAccumulator ? store : store / tiles; }

  /// At every step both engines raise a flag and await one.
  double handOver() const { return 4 * prices.flag() * tiles * double(b.steps); }

private:
  void setProduct() {
    double step = prices.productStep(problem.inBytes == 4);
    double fractals = double(m.fractals(tiling.blockM, tiling.baseM)) * double(n.fractals(tiling.blockN, tiling.baseN)),
           depth = double(ceilDiv(problem.k, blockChannels(problem.inBytes)));
    product = prices.productHead() * tiles * double(b.steps) + outer * step * fractals * depth;
    lastProduct = product / (tiles * double(b.steps));
  }

  /// Times that the right operand comes by: per block of columns, or anew for each block of rows.
  double rightTurns() const { return tiling.rowsOuter ? double(m.blocks) : 1; }

  void setExtract() {
    double depth = outer * double(problem.k) * problem.inBytes;
    double rightExtracts = holdsRightTile(problem, tiling) ? rightTurns() : tilesM;
    extract = depth * (double(n.blocks * m.extent) * prices.extractPerByte(false) +
                       rightExtracts * double(n.extent) * prices.extractPerByte(true));
    firstExtract =
        double(std::min(tiling.baseK, problem.k)) * problem.inBytes *
        (double(tiling.baseM) * prices.extractPerByte(false) + double(tiling.baseN) * prices.extractPerByte(true));
  }

  void setLoad() {
    bool leftStays = problem.image && b.panels == 1, turned = tiling.rowsOuter && problem.image;
    int64_t panels = b.panels - ceilDiv(tiling.heldK, tiling.panelK);
    double leftLoads = outer * (turned ? double(m.blocks)
                                       : double(n.blocks) * (leftStays ? double(m.blocks) : tilesM * double(panels)));
    double rightLoads = outer * double(n.blocks) * (tiling.holdB ? rightTurns() : tilesM * double(b.panels));
    double heldLoads = tiling.heldK ? outer * double(m.blocks) : 0;
    // Beyond the extents tiles are padded, for which nothing moves.
    double filled = double(m.extent) / double(m.blocks * tiling.blockM);
    double leftBytes = double(leftPanelBytes(problem, tiling)) * (problem.image ? 1 : filled),
           rightBytes = double(rightPanelBytes(problem, tiling)) * double(n.extent) / double(n.blocks * tiling.baseN),
           held = double(heldBytes(problem, tiling)) * filled;
    double bytes = heldLoads * held + leftLoads * leftBytes + rightLoads * rightBytes;
    double cores = double(tiling.grid.size());
    loadedBytes = bytes * cores;
    double hbm = distinctBytes() / std::max(1.0, loadedBytes);
    double perByte = prices.readPerByte(cost::Way::ToL1, cores, hbm), start = prices.start(cost::Way::ToL1);
    load = bytes * perByte + (heldLoads + leftLoads + rightLoads) * start;
    firstLoad = ((held > 0 ? held : leftBytes) + rightBytes) * perByte + 2 * start;
  }

  /// Of both operands, whose lines come from outside of L2 once.
  double distinctBytes() const {
    double left = double(problem.outer) * double(problem.m) * double(problem.k);
    if (const auto &image = problem.image)
      left = double(problem.outer) * double(image->batch * image->h.in * image->w.in * image->channels);
    double right = double(problem.outer) * double(problem.k) * double(problem.n);
    return prices.wholeLines(left * problem.inBytes) + prices.wholeLines(right * problem.inBytes);
  }
};

} // namespace

double estimateCycles(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits) {
  Work work(problem, tiling, limits);
  double busiest = std::max({work.product, work.extract, work.load, work.store});
  double alone =
      work.firstLoad + work.firstExtract + work.lastProduct + work.lastStore(hasOneAccumulator(tiling, limits));
  return busiest + alone + work.handOver() + kRestShare * (work.product + work.extract + work.store) +
         kTrafficShare * work.load;
}

ExpectedCycles expectedCycles(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits,
                              bool oneAccumulator) {
  Work work(problem, tiling, limits);
  // The other engines begin behind the first load. Columns of A that are held have one buffer: the loads of the next
  // rows wait for the last products of these.
  double turns = tiling.heldK ? double(work.m.blocks) : 1, lastTile = std::max(work.product, work.extract) / work.tiles;
  double busiest = std::max(work.load + (turns - 1) * lastTile,
                            turns * work.firstLoad + std::max({work.product, work.extract, work.store}));
  double first = work.firstLoad + work.firstExtract + (std::max(work.product, work.extract) + work.store) / work.tiles;
  return {busiest + work.firstExtract + work.lastProduct + work.lastStore(oneAccumulator) + 2 * work.handOver(), first};
}

double loadedBytes(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits) {
  return Work(problem, tiling, limits).loadedBytes;
}

int64_t l1Bytes(const CubeProblem &problem, const CubeTiling &tiling, int copies) {
  int64_t left = roundUp(leftPanelBytes(problem, tiling), 32);
  int64_t right = roundUp(rightPanelBytes(problem, tiling), 32);
  int64_t rows = roundUp(tiling.baseN * ((problem.bias ? 4 : 0) + (problem.columnScales ? 8 : 0)), 32);
  return roundUp(heldBytes(problem, tiling), 32) + left * copies + right * (tiling.holdB ? 1 : copies) + rows * copies;
}

/// Rows of the image that `block` outputs read in its middle, from the slab's first one on.
static int64_t rowsFor(const ConvAxis &axis, int64_t block) {
  int64_t lead = ceilDiv(axis.padBegin, axis.stride);
  return (lead + block - 1) * axis.stride - axis.padBegin + (axis.kernel - 1) * axis.dilation + 1;
}

bool slabFits(const ConvAxis &axis, int64_t block) {
  int64_t extent = slabFor(axis, block).extent;
  return axis.slabLimit == 0 || (rowsFor(axis, block) <= extent && extent <= axis.slabLimit);
}

SlabAxis slabFor(const ConvAxis &axis, int64_t block) {
  SlabAxis slab;
  slab.lead = ceilDiv(axis.padBegin, axis.stride);
  int64_t rows = rowsFor(axis, block);
  // A slab that images may fill in part may have more rows than the greatest of them.
  if (axis.slabLimit != 0 && rows > axis.in) {
    slab.extent = rows;
    slab.lastStart = 0;
    return slab;
  }
  int64_t need = std::max<int64_t>(1, std::min(rows, axis.in));
  // Rows that are left over must be whole strides, so that the last slab can
  // end where the image ends.
  slab.extent = axis.in - (axis.in - need) / axis.stride * axis.stride;
  slab.lastStart = (axis.in - slab.extent) / axis.stride;
  return slab;
}

} // namespace pto_mlir::cube
