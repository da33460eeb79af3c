//===- TileSizes.h - how many rows of a nest fit ----------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_VECTOR_TILESIZES_H
#define PTO_MLIR_LIB_KERNELS_VECTOR_TILESIZES_H

#include "Domain.h"

namespace pto_mlir::vector_kernels {

/// The ops that are computed together, their widest domain's last two classes
/// as row and column of every tile.
struct Nest {
  llvm::SmallVector<mlir::linalg::LinalgOp> ops;
  unsigned rowClass = ~0u;
  unsigned colClass = ~0u;
  int64_t rowExtent = 1;
  int64_t colExtent = 1;
};

/// Determines row and column class of `ops`.
Nest makeNest(llvm::ArrayRef<mlir::linalg::LinalgOp> ops, const Domain &domain);

/// Most body values of `op` that are alive at once, beyond operands and results.
int64_t liveTemporaries(mlir::linalg::LinalgOp op);

/// Elements along `cls` that one tile may have so that every operand, result
/// and temporary of the nest, all doubled, fits the unified buffer; classes that
/// are neither row nor column count as 1. 0 when not even one fits.
/// The estimate counts each value once (32-byte rows) and the temporaries of the
/// largest body, in f32; the memory planner may do better by reuse.
int64_t maxTileExtent(const Nest &nest, const Domain &domain, unsigned cls);

/// Columns of which `rows` rows at a time, doubled, fit the unified buffer.
int64_t maxColumnsOfRows(const Nest &nest, const Domain &domain, int64_t rows);

/// Cycles that a tile takes of each engine of a vector core: beside its elements, and per element (lib/Cost).
struct TilePrice {
  struct Engine {
    double fixed = 0, perElement = 0;
    double of(double elements) const { return fixed + elements * perElement; }
  };
  Engine load, compute, store;
};

/// Of the tiles of a nest: what it reads, the operations of its bodies, what it leaves.
TilePrice priceTiles(const Nest &nest, const Domain &domain);

/// The size of tiles of `extent` units of `elementsPerUnit` elements, at most `limit`, a multiple of 8 where a unit is
/// one element, that takes the most loaded of `cores` vector cores the least time: the engines work on several tiles at
/// a time, but for the first one's way in and the last one's way out. `otherTiles` is the number of tiles along the
/// other loops.
int64_t chooseTileExtent(const TilePrice &price, int64_t extent, int64_t limit, int64_t elementsPerUnit,
                         int64_t otherTiles = 1, int64_t cores = 1);

/// Of a transposition: `rows` along the source's innermost dimension, `cols` along the result's.
struct TransposedTile {
  int64_t rows = 1;
  int64_t cols = 1;
};

/// The tile of a transposition `op` of `rows` x `cols` elements, `otherTiles` times, that takes `cores` vector cores
/// the least time. Both sides are whole blocks of 32 bytes or the whole extent, and what the tile needs, doubled, fits
/// the unified buffer.
TransposedTile chooseTransposedTile(mlir::linalg::LinalgOp op, int64_t rows, int64_t cols, int64_t otherTiles,
                                    int64_t cores);

} // namespace pto_mlir::vector_kernels

#endif // PTO_MLIR_LIB_KERNELS_VECTOR_TILESIZES_H
