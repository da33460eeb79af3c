//===- LocalTiles.h - the tile behind a local memref ------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_LOCALTILES_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_LOCALTILES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/ADT/DenseMap.h"

namespace pto_mlir {

/// A number of rows or columns: its (upper bound) and, when that is not exact,
/// the value that holds it.
struct Extent {
  int64_t bound = 1;
  mlir::Value dynamic;
};

/// What a local memref holds, without the padding of its tile.
struct TileShape {
  Extent rows, cols;
};

/// True for a memref in the unified buffer.
bool isLocal(mlir::Value memref);

/// Gives each `memref.alloc` of the kernel a tile. A memref [.., R, C] is an R x C
/// row-major tile, columns padded so that each element type of the kernel fills
/// 32-byte blocks (equal shapes for all types); a vector is one row of it. A vector
/// that some op uses as a column vector is an R x 1 column-major tile: the same
/// bytes, reshaped where it is used as a row.
class LocalTiles {
public:
  explicit LocalTiles(mlir::func::FuncOp func) : func(func) {}

  /// Creates the tiles beside the allocations.
  mlir::LogicalResult build();

  /// The tile of `memref`, a view of one included. Emits an error for a view that
  /// is no set of whole rows.
  mlir::FailureOr<mlir::Value> get(mlir::Value memref);
  TileShape shapeOf(mlir::Value memref) const;

  /// `count` columns with padding.
  int64_t pad(int64_t count) const;

  /// Temporaries that the ops of `block` before this point are done with.
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
