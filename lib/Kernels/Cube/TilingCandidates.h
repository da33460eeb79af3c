//===- TilingCandidates.h - sizes worth trying -------------------*- C++ -*-===//
//
// What the tiling chooser enumerates along each axis of a problem.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_TILINGCANDIDATES_H
#define PTO_MLIR_LIB_KERNELS_CUBE_TILINGCANDIDATES_H

#include "pto_mlir/Kernels/CubeTiling.h"

#include <cstddef>
#include <vector>

namespace pto_mlir::cube {

constexpr int64_t kFractal = 16;
// Valid m, k, n of one tmatmul, and columns of one store, go up to here.
constexpr int64_t kMaxExtent = 4080;
// Largest tile that is tried along m or n.
constexpr int64_t kMaxBase = 1024;

/// Block sizes that cut an extent evenly, multiples of `unit`, largest first;
/// at most `count`.
std::vector<int64_t> blockSizes(int64_t extent, int64_t limit, int64_t unit, size_t count = 32);

/// Counts of output rows per slab: even cuts by powers of two, and 1.
std::vector<int64_t> slabSizes(int64_t extent);

/// Counts of windows per block: whole rows of them, else parts of one row.
std::vector<int64_t> patchBlocks(const ConvPatches &patches, int64_t rows, int64_t limit);

/// The largest base K whose left and right tiles fit twice, cut evenly; 0 when
/// none does.
int64_t baseKFor(const CubeProblem &problem, const CubeLimits &limits, int64_t baseM, int64_t baseN, int64_t panelK);

/// The values of panelK to try, largest first.
std::vector<int64_t> panels(const CubeProblem &problem);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_TILINGCANDIDATES_H
