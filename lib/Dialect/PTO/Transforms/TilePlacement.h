//===- TilePlacement.h - addresses for tiles whose lifetimes are known ------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_TILEPLACEMENT_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_TILEPLACEMENT_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"

namespace pto_mlir::pto {

/// A tile to place, or slots of tiles, or what the program placed (`fixed`), or a reserved buffer at an address (no
/// `alloc`). The lifetime is inclusive on both ends.
struct Tile {
  mlir::Operation *alloc; // alloc_tile or alloc_multi_tile
  int64_t bytes;
  int64_t first, last;
  bool fixed = false;
  int64_t address = 0;
  llvm::SmallVector<mlir::Operation *, 2>
      operands; // in whose place it may be computed, once they are not read any more
};

struct Placement {
  bool fits;
  int64_t need; // bytes, of the best order that was tried
};

/// Places the tiles of one memory within `limit`. Tries several orders and takes the first that fits: no sharing, first
/// fit in the order of first use, first fit with large tiles first, and these with results in the place of an operand
/// that nobody reads any more.
Placement placeWithin(llvm::MutableArrayRef<Tile> tiles, const LocalLimit &limit);

} // namespace pto_mlir::pto

#endif
