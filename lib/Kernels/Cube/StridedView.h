//===- StridedView.h - where the elements of a view lie ---------*- C++ -*-===//
//
// Reshapes, transpositions and slices of contiguous memory, followed as sizes
// and strides. A cube kernel reads and writes whole rows at any distance, so it
// needs no kernel that moves them first: the heads of an attention lie side by
// side in the rows of one matrix.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_STRIDEDVIEW_H
#define PTO_MLIR_LIB_KERNELS_CUBE_STRIDEDVIEW_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace pto_mlir::cube {

/// A run of `size` positions, `stride` elements apart.
struct Level {
  int64_t size, stride;
};

/// One dimension: runs within runs, outermost first, none of size 1.
using LevelList = llvm::SmallVector<Level, 2>;

struct StridedView {
  int64_t offset = 0; ///< in elements
  llvm::SmallVector<LevelList> dims;
};

/// Blocks [rows, cols] of a row-major matrix whose rows are `pitch` elements:
/// block (i, j) of [outer, inner] begins at row `firstRow + i * outerRows + j *
/// innerRows` and column `firstCol + i * outerCols + j * innerCols`.
struct BlockMatrix {
  int64_t pitch = 1;
  int64_t firstRow = 0, firstCol = 0;
  int64_t outer = 1, outerRows = 0, outerCols = 0;
  int64_t inner = 1, innerRows = 0, innerCols = 0;
};

/// Ops that only say where elements lie: static reshapes, linalg.transpose,
/// tensor.extract_slice.
bool isView(mlir::Operation *op);
/// Those of them that a kernel of their own would have to move.
bool isMovingView(mlir::Operation *op);

/// A whole contiguous tensor of that shape.
StridedView contiguous(llvm::ArrayRef<int64_t> shape);
/// The shape that a tensor has; by default that of its type.
using ShapeOf = llvm::function_ref<llvm::SmallVector<int64_t>(mlir::Value)>;
llvm::SmallVector<int64_t> staticShapeOf(mlir::Value value);
/// The result of `op`, whose source lies as `source` says.
std::optional<StridedView> viewOfResult(mlir::Operation *op, const StridedView &source,
                                        ShapeOf shapeOf = staticShapeOf);
/// The source of `op`, whose result lies as `result` says; none for a slice.
std::optional<StridedView> viewOfSource(mlir::Operation *op, const StridedView &result);

/// A view [rows, cols] or [batch, rows, cols] of memory of `elements` elements
/// as blocks of a matrix; none when rows are not whole, or a batch is more than
/// two runs.
std::optional<BlockMatrix> asBlocks(const StridedView &view, int64_t elements);

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_STRIDEDVIEW_H
