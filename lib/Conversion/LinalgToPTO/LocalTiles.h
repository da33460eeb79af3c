//===- LocalTiles.h - tiles of local memrefs ------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_LOCALTILES_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_LOCALTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir {

/// A number of rows or columns: an upper bound and, when that is not exact, the value.
struct Extent {
  int64_t bound = 1;
  mlir::Value dynamic;
};

/// The extents of a local memref, without the padding of its tile.
struct TileShape {
  Extent rows, cols;
};

/// True for a memref in the unified buffer.
bool isLocal(mlir::Value memref);

/// Assigns a tile to each `memref.alloc` of the kernel. A memref [.., R, C] becomes an R x C row-major tile, with
/// columns padded to 32-byte blocks of every element type of the kernel (so that shapes are equal for all types); a
/// vector is one row. A vector used as a column vector by some op is an R x 1 column-major tile: the same memory,
/// reshaped where it is used as a row.
class LocalTiles {
public:
  explicit LocalTiles(mlir::func::FuncOp func) : func(func) {}

  /// Creates the tiles at the allocations.
  mlir::LogicalResult build();

  /// The tile of `memref`, which may be a view. Emits an error for a view that does not consist of whole rows.
  mlir::FailureOr<mlir::Value> get(mlir::Value memref);
  TileShape shapeOf(mlir::Value memref) const;

  /// `count` columns, padded.
  int64_t pad(int64_t count) const;

  /// Temporaries in `block` that are dead at this point.
  llvm::SmallVector<mlir::Value> &freeTiles(mlir::Block *block) { return pools[block]; }

private:
  mlir::LogicalResult findColumns();
  mlir::Value rootOf(mlir::Value memref) const;

  mlir::func::FuncOp func;
  int64_t alignment = 8;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
  llvm::DenseMap<mlir::Value, TileShape> shapes;
  llvm::DenseSet<mlir::Value> columns;
  llvm::DenseMap<mlir::Block *, llvm::SmallVector<mlir::Value>> pools;
};

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_LOCALTILES_H
