//===- AttentionTiling.h - sizes of an attention kernel ---------*- C++ -*-===//
//
// Chooses the tiles of attention in one kernel: a unit of rows of Q goes over K
// and V in tiles of keys. Pure arithmetic without IR, so that the rules can be
// tested over many shapes.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_ATTENTIONTILING_H
#define PTO_MLIR_KERNELS_ATTENTIONTILING_H

#include "pto_mlir/Support/MathExtras.h"
#include <cstdint>
#include <optional>
#include <string_view>

namespace pto_mlir::attention {

/// The memories of a block's cores in bytes, and the blocks and vector cores of the chip.
struct AttentionLimits {
  int64_t ub, l1, l0a, l0b, l0c;
  int64_t blocks, vectorCores;
};

/// Nothing for an architecture that the table does not have.
std::optional<AttentionLimits> attentionLimits(std::string_view architecture);

/// The extents of an attention: `heads` products of [queries, depth] by [depth, keys] by [keys, valueDepth].
struct AttentionProblem {
  int64_t heads = 1; ///< of Q, in all batches
  int64_t queries = 1, keys = 1;
  int64_t depth = 1, valueDepth = 1;
  int64_t bytes = 2;   ///< of an element of Q, K, V and of a weight
  bool allKeys = true; ///< does each row see all keys?
  bool alike = true;   ///< does each head have so many queries at run time, which all see all keys?
};

/// Both halves of a vector core's rows have tiles of their own, so that one half loads and stores beside the other.
constexpr int64_t kHalves = 2;
/// Tiles that the scores are ahead of the sums.
constexpr int64_t kAhead = 3;
/// Sets of slots of a ring, and of sums, at most.
constexpr int64_t kSets = 2;
/// Slots of a set; a slot is free again without a flag when there are more of them than tiles ahead.
constexpr int64_t kSlots = 4;

/// Columns of a sum of weights, all alike: a block of 32 bytes, which vector instructions broadcast along a row.
constexpr int64_t kSumColumns = 8;

/// Strips of a unit.
constexpr int64_t kMaxStrips = 2;

/// How an attention is cut. Results do not depend on any of it but `keys`; nothing depends on the blocks of a launch.
struct AttentionTiling {
  int64_t unit;      ///< rows of Q that go over K and V together; the last unit of a head may have fewer
  int64_t strips;    ///< of a unit, one or two, which share what is loaded of K and V
  int64_t rows;      ///< of a strip; the last one of a unit may have fewer
  int64_t box;       ///< rows of a tile of the cube core, a multiple of 16
  int64_t share;     ///< rows of a strip that a vector core has
  int64_t chunk;     ///< rows of the first half of a share; the second one may have fewer
  int64_t chunkBox;  ///< `chunk` rounded up to what a row of statistics holds
  int64_t keys;      ///< of a tile, a multiple of 16
  int64_t scoreKeys; ///< columns of a product of Q and K
  int64_t scoreStep; ///< depth of a product of Q and K
  int64_t sumStep;   ///< keys of a product of weights and V
  int64_t sets = 1;  ///< of slots: two, which units take in turn, where they differ in their tiles
  bool ones = false; ///< does the cube core add up the weights, as their product with ones?
  int64_t units(const AttentionProblem &p) const { return p.heads * ceilDiv(p.queries, unit); }
  int64_t tiles(const AttentionProblem &p) const { return ceilDiv(p.keys, keys); }
};

/// Rows of the smallest strip of all units.
int64_t leastRows(const AttentionProblem &problem, const AttentionTiling &tiling);

/// Bytes of a vector core's buffer, and of L1 with two buffers for what is loaded per tile.
int64_t ubBytes(const AttentionProblem &problem, const AttentionTiling &tiling);
int64_t l1Bytes(const AttentionProblem &problem, const AttentionTiling &tiling);
/// Bytes of L0A, L0B and L0C, with as many tiles as the two products use side by side.
int64_t l0aBytes(const AttentionProblem &problem, const AttentionTiling &tiling);
int64_t l0bBytes(const AttentionProblem &problem, const AttentionTiling &tiling);
int64_t l0cBytes(const AttentionProblem &problem, const AttentionTiling &tiling);

/// Nothing when no tiling fits the memories.
std::optional<AttentionTiling> chooseAttentionTiling(const AttentionProblem &problem, const AttentionLimits &limits);

} // namespace pto_mlir::attention

#endif // PTO_MLIR_KERNELS_ATTENTIONTILING_H
