//===- CubeTiling.h - sizes of a cube kernel --------------------*- C++ -*-===//
//
// Chooses the tiling of a contraction C[M, N] = A[M, K] * B[K, N]: L0 tiles, L1
// panels and image slabs. Pure arithmetic without IR, so that the rules can be
// tested over many shapes.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_CUBETILING_H
#define PTO_MLIR_KERNELS_CUBETILING_H

#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Support/MathExtras.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pto_mlir::cube {

/// One spatial axis of a convolution, in elements of the image.
struct ConvAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1;
  int64_t padBegin = 0, padEnd = 0;
  int64_t slabLimit = 0; ///< greatest extent of a slab where that of the image is known at run time, else 0
};

/// The part of one image axis held in L1 for `block` consecutive outputs. Every slab has the same extent and lies
/// inside the image, so that image size and padding of img2col are constants and only the position of its first output
/// is computed:
///   start(o) = clamp(o - lead, 0, lastStart)   in units of the stride
///   first input row = start * stride, position in the slab = o - start
struct SlabAxis {
  int64_t extent = 1;    ///< image rows held
  int64_t lead = 0;      ///< outputs between the slab's first row and its block
  int64_t lastStart = 0; ///< largest start inside the image
};

/// The slab of `axis` for blocks of `block` outputs.
SlabAxis slabFor(const ConvAxis &axis, int64_t block);

/// Whether the slab for blocks of `block` outputs serves them anywhere in an image of any size, within its limit.
bool slabFits(const ConvAxis &axis, int64_t block);

/// The image of a convolution whose left operand is produced by img2col.
struct ConvImage {
  ConvAxis h, w;
  int64_t batch = 1;
  int64_t channels = 1; ///< per group, not padded
};

/// A convolution with non-overlapping windows and no padding (a patch embedding): row r of A consists of `strips`
/// contiguous runs of the image, one per row of the window.
struct ConvPatches {
  int64_t width = 1;                               ///< windows per row; m counts rows of windows
  int64_t strips = 1;                              ///< k = strips * strip
  int64_t strip = 1;                               ///< elements of one run
  int64_t rowPitch = 1, stripPitch = 1, pitch = 1; ///< elements between rows of
                                                   ///< windows, strips, windows
};

/// The contraction: `outer` independent products of [m, k] by [k, n]. With an image, m = batch * h.out * w.out and k
/// counts channels padded to C0.
struct CubeProblem {
  int64_t m = 1, n = 1, k = 1;
  int64_t outer = 1;         ///< groups, or the batch of a batched product
  unsigned inBytes = 4;      ///< of one element of A and B
  unsigned outBytes = 4;     ///< of one stored element
  bool bias = false;         ///< limits n by the bias table
  bool columnScales = false; ///< limits n by the fixpipe's buffer
  std::optional<ConvImage> image;
  std::optional<ConvPatches> patches; ///< instead of an image
  int64_t cores = 1;                  ///< cube cores that share the work
};

/// Bytes of the memories of one cube core, and what its architecture takes.
struct CubeLimits {
  int64_t l1, l0a, l0b, l0c, biasTable, fixpipe;
  cost::Prices prices;
};

/// The limits of an architecture of the ISA's table; empty when
/// there is no such architecture.
std::optional<CubeLimits> cubeLimits(std::string_view architecture);

/// How the cores of a launch share a problem: a grid of
/// outer * n * m cores, each with consecutive blocks along every axis.
struct CoreGrid {
  int64_t outer = 1, n = 1, m = 1;
  int64_t size() const { return outer * n * m; }
};

/// Blocks for fewer rows than the tiling was chosen for, where the rows are known at run time.
struct FewRows {
  int64_t rows; ///< up to which
  int64_t blockM, blockN;
  int64_t gridM; ///< cores along the rows at most
};

/// The sizes of one kernel. All base sizes are multiples of the fractal.
struct CubeTiling {
  int64_t baseM, baseN, baseK; ///< tile of one tmatmul
  int64_t panelK;              ///< part of K in L1; >= k when all of it is
  int64_t blockM;              ///< rows of a block: rows of A, or outputs of a slab
  int64_t blockN;              ///< columns of a block, <= baseN
  bool holdB;                  ///< [k, blockN] of B stays in L1 for all of M
  bool rowsOuter;              ///< loop over blocks of rows outermost: a block's
                               ///< slab, or columns of its A, stay in L1
  int64_t heldK;               ///< columns of A that stay in L1 then (without an
                               ///< image): k or whole panels
  int64_t slabRows, slabCols;  ///< outputs per image slab (1, 1 without image):
                               ///< all that a block of blockM may cover
  SlabAxis slabH, slabW;       ///< the axes of such a slab
  CoreGrid grid;               ///< cores used; at most CubeProblem::cores
  double cycles;               ///< estimated cycles, the objective of the choice
  double loads;                ///< bytes that all its cores load
  std::vector<FewRows> few;    ///< where rows are known at run time (chooseFewRows)
};

/// Numbers of blocks, tiles and panels of a kernel.
struct CubeBlocks {
  int64_t m;      ///< blocks of rows, or image slabs
  int64_t n;      ///< blocks of columns of one outer index
  int64_t tiles;  ///< L0 tiles of one block of rows
  int64_t panels; ///< panels of K
  int64_t steps;  ///< tiles of K
};
/// The numbers of blocks, tiles and panels of a tiling.
CubeBlocks countBlocks(const CubeProblem &problem, const CubeTiling &tiling);

/// Whether the right tile of a block of columns is loaded to L0B only once: K is a single step.
bool holdsRightTile(const CubeProblem &problem, const CubeTiling &tiling);

/// Load imbalance: products of the busiest core over those of an even share; 1 is balanced.
double imbalance(const CubeProblem &problem, const CubeTiling &tiling);

/// Estimated cycles of the busiest core, by the prices of the architecture
/// (lib/Cost). Without what a launch costs.
double estimateCycles(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits);

/// Whether L0C holds only one tile of a product.
bool hasOneAccumulator(const CubeTiling &tiling, const CubeLimits &limits);

/// Cycles until the last and the first tile is stored.
struct ExpectedCycles {
  double all, firstTile;
};

/// As estimateCycles, without any preference for less traffic: what to compare tilings by of which none is built.
/// `oneAccumulator`: of the tiles in L0C, which may be larger than the blocks.
ExpectedCycles expectedCycles(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits,
                              bool oneAccumulator);

/// Bytes of both operands that all cores of the grid load together.
double loadedBytes(const CubeProblem &problem, const CubeTiling &tiling, const CubeLimits &limits);

/// Channels of one 32-byte block.
inline int64_t blockChannels(unsigned bytes) { return 32 / bytes; }

/// Rows of B in L1 that hold whole boxes of it there (16 rows) and in L0B (C0 rows).
inline int64_t depthUnit(unsigned bytes) { return std::max<int64_t>(16, blockChannels(bytes)); }

/// Bytes of L1 required by `tiling` with `copies` copies of every buffer (one of operands that stay for the whole m
/// loop).
int64_t l1Bytes(const CubeProblem &problem, const CubeTiling &tiling, int copies);

/// The tiling with the lowest estimated time; among nearly equal ones the best balanced. The split of K is independent
/// of the number of cores, so that results are bit-identical. Left and right tiles are double-buffered, and L1 buffers
/// where that fits. Nullopt when not even the smallest tile fits.
std::optional<CubeTiling> chooseCubeTiling(const CubeProblem &problem, const CubeLimits &limits);

/// So many tilings are looked at closer before one is kept, and so many where rows are known at run time.
constexpr size_t kFinalists = 4, kSizedFinalists = 16;

/// That tiling first, then others that cut K alike, the best by their estimates, `most` in all; for whoever can look
/// closer. Empty when not even the smallest tile fits.
std::vector<CubeTiling> rankCubeTilings(const CubeProblem &problem, const CubeLimits &limits, size_t most);

/// What the vector cores take that follow a cube core, in cycles of its block.
struct Follower {
  double perTile, perElement;
};

/// Cycles of a cube core and of the vector cores that follow it through so many tiles: they overlap but for the first
/// tile of the one or the last of the other.
inline double overlapped(double cube, double vector, double tiles) {
  return std::max(cube, vector) + std::min(cube, vector) / tiles;
}

/// Blocks for a product of any number of rows up to `problem.m`, without an image or patches, by rows upward: smaller
/// ones than `tiling` has, with which more cores have work, in tiles and panels of the same size. More rows take the
/// blocks of `tiling`. Blocks that are followed keep their columns: each width needs vector code of its own.
std::vector<FewRows> chooseFewRows(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &tiling,
                                   const Follower *follower);

/// The logarithms of the cycles that a kernel of `tiling` takes with numbers of rows from `problem.m` down to a few,
/// each half of the one before, in the blocks that `chooseFewRows` takes.
std::vector<double> logCyclesByRows(const CubeProblem &problem, const CubeLimits &limits, const CubeTiling &tiling,
                                    const Follower *follower);

/// Cycles to choose among tilings by where rows are known at run time, of each one's `logCyclesByRows`: the mean of the
/// best ones, times what it loses to the best one where it loses most.
std::vector<double> compareForAllRows(const std::vector<std::vector<double>> &logCycles);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_KERNELS_CUBETILING_H
