//===- TilingCost.cpp - what a tiling needs and takes ---------------------===//
//
// Bytes of L1 and the time of the busiest core. The time takes each engine's
// busy cycles and assumes that the engines overlap, which double buffering
// gives.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Kernels/CubeTiling.h"

#include <algorithm>

namespace pto_mlir::cube {

namespace {

constexpr int64_t kFractal = 16;

// Bytes per cycle at 1.8 GHz from the published A3 GEMM figures: loads 158,
// L1 to L0 221, stores 131 GB/s per core.
constexpr double kLoadRate = 88, kExtractRate = 122, kStoreRate = 73;
// What one instruction costs beyond its bytes, so that equal traffic prefers
// fewer and larger tiles.
constexpr double kIssue = 30;
// What work that hides behind the busiest engine still costs; loads more than
// the rest, for all cores share the memory.
constexpr double kRestShare = 0.05, kTrafficShare = 0.8;

/// Bytes of the columns of the left operand that stay in L1.
int64_t heldBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  return tiling.baseM * roundUp(tiling.heldK, kFractal) * problem.inBytes;
}

/// Bytes of the left operand's panel or slab in L1.
int64_t leftPanelBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  if (!problem.image) {
    int64_t k = std::min(tiling.panelK, problem.k - tiling.heldK);
    return tiling.baseM * roundUp(k, kFractal) * problem.inBytes;
  }
  int64_t taps = problem.image->h.kernel * problem.image->w.kernel;
  int64_t channels = std::min(tiling.panelK, problem.k) / taps;
  return roundUp(tiling.slabH.extent * tiling.slabW.extent, kFractal) * channels * problem.inBytes;
}

int64_t rightPanelBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  int64_t k = tiling.holdB ? problem.k : std::min(tiling.panelK, problem.k);
  return roundUp(k, kFractal) * tiling.baseN * problem.inBytes;
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

double imbalance(const CubeProblem &problem, const CubeTiling &tiling) {
  CubeBlocks blocks = countBlocks(problem, tiling);
  Share m(problem.m, blocks.m, tiling.blockM, tiling.grid.m);
  Share n(problem.n, blocks.n, tiling.blockN, tiling.grid.n);
  double busiest = double(ceilDiv(problem.outer, tiling.grid.outer)) * m.extent * n.extent;
  return busiest * problem.cores / (double(problem.outer) * problem.m * problem.n);
}

double estimateCycles(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits) {
  CubeBlocks b = countBlocks(problem, tiling);
  Share m(problem.m, b.m, tiling.blockM, tiling.grid.m);
  Share n(problem.n, b.n, tiling.blockN, tiling.grid.n);
  double outer = ceilDiv(problem.outer, tiling.grid.outer);
  int64_t c0 = blockChannels(problem.inBytes);
  double k = problem.k, bytes = problem.inBytes;

  double tilesM = m.blocks * b.tiles, tiles = outer * n.blocks * tilesM;
  double cubeCycles =
      6 * tiles * b.steps + outer * (problem.inBytes == 4 ? 2 : 1) * double(m.fractals(tiling.blockM, tiling.baseM)) *
                                double(n.fractals(tiling.blockN, tiling.baseN)) * double(ceilDiv(problem.k, c0));

  bool once = holdsRightTile(problem, tiling);
  // Times that the right operand comes by: per block of columns, or anew for
  // each block of rows.
  double rightTurns = tiling.rowsOuter ? m.blocks : 1;
  double rightExtracts = once ? rightTurns : tilesM;
  double extract = outer * k * bytes * (n.blocks * double(m.extent) + rightExtracts * n.extent) / kExtractRate +
                   kIssue * outer * n.blocks * b.steps * (tilesM + rightExtracts);

  bool leftStays = problem.image && b.panels == 1;
  bool turned = tiling.rowsOuter && problem.image;
  int64_t panels = b.panels - ceilDiv(tiling.heldK, tiling.panelK);
  double leftLoads = outer * (turned ? m.blocks : n.blocks * (leftStays ? m.blocks : tilesM * panels));
  double rightLoads = outer * n.blocks * (tiling.holdB ? rightTurns : tilesM * b.panels);
  double leftBytes = leftPanelBytes(problem, tiling);
  double rightBytes = rightPanelBytes(problem, tiling);
  double held = heldBytes(problem, tiling);
  double load = (tiling.heldK ? outer * m.blocks * (held / kLoadRate + kIssue) : 0) +
                leftLoads * (leftBytes / kLoadRate + kIssue) + rightLoads * (rightBytes / kLoadRate + kIssue);
  double store = outer * double(m.extent) * n.extent * problem.outBytes / kStoreRate + tiles * kIssue;

  double busiest = std::max({cubeCycles, extract, load, store});
  double firstLoad = ((held > 0 ? held : leftBytes) + rightBytes) / kLoadRate;
  // One accumulator only: the store does not overlap the next tile.
  bool oneAcc = 2 * tiling.baseM * tiling.baseN * 4 > limits.l0c;
  // Engines wait for each other's flags at every step.
  double handOver = kIssue * tiles * b.steps;
  return busiest + firstLoad + (oneAcc ? store : store / tiles) + handOver +
         kRestShare * (cubeCycles + extract + store) + kTrafficShare * load;
}

int64_t l1Bytes(const CubeProblem &problem, const CubeTiling &tiling, int copies) {
  int64_t left = roundUp(leftPanelBytes(problem, tiling), 32);
  int64_t right = roundUp(rightPanelBytes(problem, tiling), 32);
  int64_t bias = problem.bias ? roundUp(tiling.baseN * 4, 32) : 0;
  return roundUp(heldBytes(problem, tiling), 32) + left * copies + right * (tiling.holdB ? 1 : copies) + bias * copies;
}

SlabAxis slabFor(const ConvAxis &axis, int64_t block) {
  SlabAxis slab;
  slab.lead = ceilDiv(axis.padBegin, axis.stride);
  int64_t need = (slab.lead + block - 1) * axis.stride - axis.padBegin + (axis.kernel - 1) * axis.dilation + 1;
  need = std::max<int64_t>(1, std::min(need, axis.in));
  // Rows that are left over must be whole strides, so that the last slab can
  // end where the image ends.
  slab.extent = axis.in - (axis.in - need) / axis.stride * axis.stride;
  slab.lastStart = (axis.in - slab.extent) / axis.stride;
  return slab;
}

} // namespace pto_mlir::cube
