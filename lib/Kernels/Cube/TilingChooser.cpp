//===- TilingChooser.cpp - sizes of a cube kernel -------------------------===//
//
// Enumerates balanced tile sizes and keeps the one with the least estimated
// time. The estimate takes each engine's busy time and assumes that the
// engines overlap, which double buffering gives.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Kernels/CubeTiling.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pto_mlir::cube {

namespace {

constexpr int64_t kFractal = 16;
// Valid m, k, n of one tmatmul, and columns of one store, go up to here.
constexpr int64_t kMaxExtent = 4080;

// Bytes per cycle at 1.8 GHz from the published A3 GEMM figures: loads 158,
// L1 to L0 221, stores 131 GB/s per core.
constexpr double kLoadRate = 88, kExtractRate = 122, kStoreRate = 73;
// What one instruction costs beyond its bytes, so that equal traffic prefers
// fewer and larger tiles.
constexpr double kIssue = 30;

int64_t clampTo(int64_t value, int64_t low, int64_t high) {
  return std::max(low, std::min(value, high));
}

/// Block sizes for an extent: multiples of the fractal that cut it evenly.
std::vector<int64_t> blockSizes(int64_t extent, int64_t limit) {
  static constexpr std::array<int64_t, 18> sizes = {
      1024, 768, 512, 448, 384, 320, 256, 224, 192,
      160,  128, 112, 96,  80,  64,  48,  32,  16};
  std::vector<int64_t> result;
  for (int64_t size : sizes) {
    size = std::min(size, limit);
    int64_t blocks = ceilDiv(extent, size);
    int64_t even = roundUp(ceilDiv(extent, blocks), kFractal);
    if (even <= limit &&
        std::find(result.begin(), result.end(), even) == result.end())
      result.push_back(even);
  }
  return result;
}

/// Counts of output rows per slab: powers of two and even cuts of `extent`.
std::vector<int64_t> slabSizes(int64_t extent) {
  std::vector<int64_t> result;
  for (int64_t blocks = 1; blocks <= extent; blocks *= 2) {
    int64_t size = ceilDiv(extent, blocks);
    if (result.empty() || result.back() != size)
      result.push_back(size);
  }
  if (result.back() != 1)
    result.push_back(1);
  return result;
}

/// Bytes of the left operand's panel or slab in L1.
int64_t leftPanelBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  if (!problem.image)
    return tiling.baseM *
           roundUp(std::min(tiling.panelK, problem.k), kFractal) *
           problem.inBytes;
  int64_t taps = problem.image->h.kernel * problem.image->w.kernel;
  int64_t channels = std::min(tiling.panelK, problem.k) / taps;
  return roundUp(tiling.slabH.extent * tiling.slabW.extent, kFractal) *
         channels * problem.inBytes;
}

int64_t rightPanelBytes(const CubeProblem &problem, const CubeTiling &tiling) {
  int64_t k = tiling.holdB ? problem.k : std::min(tiling.panelK, problem.k);
  return roundUp(k, kFractal) * tiling.baseN * problem.inBytes;
}

/// Slabs of the whole image and, inside one, tiles of baseM outputs.
struct Blocks {
  int64_t slabs, tiles, outerN, panels, steps;
};

Blocks countBlocks(const CubeProblem &problem, const CubeTiling &tiling) {
  Blocks blocks;
  blocks.outerN = problem.outer * ceilDiv(problem.n, tiling.baseN);
  blocks.panels = ceilDiv(problem.k, tiling.panelK);
  blocks.steps = 0;
  for (int64_t k = 0; k < problem.k; k += tiling.panelK)
    blocks.steps +=
        ceilDiv(std::min(tiling.panelK, problem.k - k), tiling.baseK);
  if (const auto &image = problem.image) {
    blocks.slabs = image->batch * ceilDiv(image->h.out, tiling.slabRows) *
                   ceilDiv(image->w.out, tiling.slabCols);
    blocks.tiles = ceilDiv(tiling.slabRows * tiling.slabCols, tiling.baseM);
  } else {
    blocks.slabs = ceilDiv(problem.m, tiling.baseM);
    blocks.tiles = 1;
  }
  return blocks;
}

/// Estimated cycles of the busiest core.
double estimate(const CubeProblem &problem, const CubeTiling &tiling,
                const CubeLimits &limits) {
  Blocks b = countBlocks(problem, tiling);
  double slabs = b.slabs, outerN = b.outerN;
  if (tiling.spreadOuter)
    outerN = ceilDiv(b.outerN, problem.cores);
  else
    slabs = ceilDiv(b.slabs, problem.cores);

  int64_t c0 = blockChannels(problem.inBytes);
  // Ragged tiles are as dear as whole ones only in whole fractals, so count
  // the average tile.
  double avgM = double(problem.m) / (b.slabs * b.tiles);
  double avgN = double(problem.n) / ceilDiv(problem.n, tiling.baseN);
  double avgK = double(problem.k) / b.steps;
  auto whole = [](double x, int64_t unit) {
    return double(ceilDiv(int64_t(x + 0.999), unit));
  };
  double tiles = outerN * slabs * b.tiles, steps = tiles * b.steps;

  double cubeCycles = steps * (6 + (problem.inBytes == 4 ? 2 : 1) *
                                       whole(avgM, kFractal) * whole(avgK, c0) *
                                       whole(avgN, kFractal));
  double extract =
      steps * ((avgM + avgN) * avgK * problem.inBytes / kExtractRate + 2 * kIssue);
  bool leftStays = problem.image && b.panels == 1;
  double leftLoads = outerN * slabs * (leftStays ? 1 : b.tiles * b.panels);
  double rightLoads = outerN * (tiling.holdB ? 1 : slabs * b.tiles * b.panels);
  double load =
      leftLoads * (leftPanelBytes(problem, tiling) / kLoadRate + kIssue) +
      rightLoads * (rightPanelBytes(problem, tiling) / kLoadRate + kIssue);
  double store = tiles * (avgM * avgN * problem.outBytes / kStoreRate + kIssue);
  double busiest = std::max({cubeCycles, extract, load, store});
  double firstLoad = (leftPanelBytes(problem, tiling) +
                      rightPanelBytes(problem, tiling)) / kLoadRate;
  // One accumulator only: the store does not overlap the next tile.
  bool oneAcc = 2 * tiling.baseM * tiling.baseN * 4 > limits.l0c;
  return busiest + firstLoad + (oneAcc ? store : store / tiles) +
         0.05 * (cubeCycles + extract + load + store);
}

/// The largest base K whose left and right tiles fit twice, cut evenly.
int64_t baseKFor(const CubeProblem &problem, const CubeLimits &limits,
                 int64_t baseM, int64_t baseN, int64_t panelK) {
  int64_t most = std::min(limits.l0a / (2 * baseM * problem.inBytes),
                          limits.l0b / (2 * baseN * problem.inBytes));
  int64_t c0 = blockChannels(problem.inBytes);
  int64_t extent = std::min(panelK, problem.k);
  most = std::min(most, kMaxExtent);
  if (roundUp(extent, c0) <= most)
    return roundUp(extent, c0);
  // Several steps: whole 16-row boxes of the right panel, for any type.
  int64_t unit = std::max(c0, kFractal);
  most = most / unit * unit;
  if (most == 0)
    return 0;
  return std::min(most, roundUp(ceilDiv(extent, ceilDiv(extent, most)), unit));
}

/// The values of panelK to try, largest first.
std::vector<int64_t> panels(const CubeProblem &problem) {
  int64_t c0 = blockChannels(problem.inBytes);
  std::vector<int64_t> result;
  if (const auto &image = problem.image) {
    // Every panel begins on a whole 16-row box of the right operand.
    int64_t perBlock = image->h.kernel * image->w.kernel * c0;
    int64_t unit = perBlock % kFractal == 0 ? 1 : 2;
    int64_t blocks = ceilDiv(problem.k, perBlock);
    result.push_back(blocks * perBlock);
    for (int64_t size = blocks; size > unit;) {
      size = roundUp(ceilDiv(size, 2), unit);
      if (size < blocks)
        result.push_back(size * perBlock);
    }
    return result;
  }
  result.push_back(roundUp(problem.k, c0));
  int64_t unit = std::max(c0, kFractal);
  for (int64_t size : {2048, 1024, 512, 256, 128, 64, 32})
    if (size < problem.k)
      result.push_back(
          roundUp(ceilDiv(problem.k, ceilDiv(problem.k, size)), unit));
  return result;
}

class Chooser {
public:
  Chooser(const CubeProblem &problem, const CubeLimits &limits)
      : problem(problem), limits(limits) {}

  std::optional<CubeTiling> run() {
    for (int copies : {2, 1}) {
      this->copies = copies;
      if (problem.image)
        searchImage();
      else
        searchPlain();
      if (best)
        break;
    }
    return best;
  }

private:
  void searchPlain() {
    CubeTiling tiling{};
    tiling.slabRows = tiling.slabCols = 1;
    for (int64_t baseM : blockSizes(problem.m, 1024)) {
      tiling.baseM = baseM;
      searchN(tiling);
    }
  }

  void searchImage() {
    const ConvImage &image = *problem.image;
    CubeTiling tiling{};
    tiling.slabCols = image.w.out;
    tiling.slabW = slabFor(image.w, image.w.out);
    for (int64_t rows : slabSizes(image.h.out)) {
      tiling.slabRows = rows;
      tiling.slabH = slabFor(image.h, rows);
      searchM(tiling, rows * image.w.out);
    }
    if (best)
      return;
    // Not one row of slabs fits: cut the row too.
    tiling.slabRows = 1;
    tiling.slabH = slabFor(image.h, 1);
    for (int64_t cols : slabSizes(image.w.out)) {
      tiling.slabCols = cols;
      tiling.slabW = slabFor(image.w, cols);
      searchM(tiling, cols);
    }
  }

  void searchM(CubeTiling tiling, int64_t slabOutputs) {
    for (int64_t baseM : blockSizes(slabOutputs, 1024)) {
      tiling.baseM = baseM;
      searchN(tiling);
    }
  }

  void searchN(CubeTiling tiling) {
    int64_t limit = problem.bias ? std::min<int64_t>(1024, limits.biasTable / 4)
                                 : 1024;
    limit = limit / kFractal * kFractal;
    if (limit == 0)
      return;
    for (int64_t baseN : blockSizes(problem.n, limit)) {
      tiling.baseN = baseN;
      if (tiling.baseM * baseN * 4 <= limits.l0c)
        searchPanel(tiling);
    }
  }

  void searchPanel(CubeTiling tiling) {
    for (int64_t panelK : panels(problem)) {
      tiling.panelK = panelK;
      tiling.baseK =
          baseKFor(problem, limits, tiling.baseM, tiling.baseN, panelK);
      if (tiling.baseK == 0)
        return;
      if (!problem.image && panelK < problem.k)
        tiling.panelK = std::max(tiling.baseK,
                                 panelK / tiling.baseK * tiling.baseK);
      bool fits = false;
      for (bool holdB : {true, false})
        for (bool spreadOuter : {false, true}) {
          tiling.holdB = holdB;
          tiling.spreadOuter = spreadOuter;
          fits |= consider(tiling);
        }
      // Smaller panels only cost more loads.
      if (fits && panelK < problem.k)
        return;
    }
  }

  bool consider(CubeTiling tiling) {
    if (l1Bytes(problem, tiling, copies) > limits.l1)
      return false;
    tiling.cycles = estimate(problem, tiling, limits);
    if (!best || tiling.cycles < best->cycles)
      best = tiling;
    return true;
  }

  const CubeProblem &problem;
  const CubeLimits &limits;
  int copies = 2;
  std::optional<CubeTiling> best;
};

} // namespace

SlabAxis slabFor(const ConvAxis &axis, int64_t block) {
  SlabAxis slab;
  slab.lead = ceilDiv(axis.padBegin, axis.stride);
  int64_t need = (slab.lead + block - 1) * axis.stride - axis.padBegin +
                 (axis.kernel - 1) * axis.dilation + 1;
  need = clampTo(need, 1, axis.in);
  // Rows that are left over must be whole strides, so that the last slab can
  // end where the image ends.
  slab.extent = axis.in - (axis.in - need) / axis.stride * axis.stride;
  slab.lastStart = (axis.in - slab.extent) / axis.stride;
  return slab;
}

int64_t l1Bytes(const CubeProblem &problem, const CubeTiling &tiling,
                int copies) {
  int64_t left = roundUp(leftPanelBytes(problem, tiling), 32);
  int64_t right = roundUp(rightPanelBytes(problem, tiling), 32);
  int64_t bias = problem.bias ? roundUp(tiling.baseN * 4, 32) : 0;
  return left * copies + right * (tiling.holdB ? 1 : copies) + bias * copies;
}

std::optional<CubeTiling> chooseCubeTiling(const CubeProblem &problem,
                                           const CubeLimits &limits) {
  return Chooser(problem, limits).run();
}

} // namespace pto_mlir::cube
