// Windows of a pointer as windows of an array in row-major order.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_RAISEMATRIX_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_RAISEMATRIX_H

#include "LinearForm.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pypto_frontend {

/// A window: rows of `cols` elements each, repeated along axes.
struct Rows {
  struct Axis {
    mlir::OpFoldResult size; ///< not 1
    int64_t stride;          ///< in elements
  };
  LinearForm first; ///< elements that the argument has before it
  mlir::OpFoldResult cols;
  llvm::SmallVector<Axis> axes; ///< the outer one first
  int64_t hint = 0;             ///< of one row: what its view calls the distance to the next
  bool isTransposed = false;    ///< its view has these rows as columns
};

/// Fails with an error for windows whose innermost axis has gaps.
mlir::FailureOr<Rows> rowsOf(pto::PartitionViewOp part);
LinearForm formOf(mlir::OpFoldResult extent);
/// Elements of the argument up to the window's last one; nullopt where their number has no bound.
std::optional<int64_t> reach(const Rows &rows);
/// The strides of an array that the windows are of, each a multiple of the next, the last one 1. Where each window has
/// one row the first stride is all `elements`. `why` says why there is none.
std::optional<llvm::SmallVector<int64_t>> stridesOf(llvm::ArrayRef<Rows> windows, int64_t elements, std::string &why);
/// The same for as few arrays as it takes.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>> arraysOf(llvm::ArrayRef<Rows> windows, int64_t elements,
                                                                      std::string &why);
/// Whether the window is one of an array with these strides.
bool isOf(const Rows &rows, llvm::ArrayRef<int64_t> strides);

/// The argument that a pointer is ahead of, and by how many elements.
std::pair<mlir::Value, LinearForm> baseOf(mlir::Value pointer);
/// An offset among elements of which each row has `pitch`: its rows, and what is left.
std::pair<LinearForm, LinearForm> split(const LinearForm &form, int64_t pitch);

} // namespace pto_mlir::pypto_frontend

#endif
