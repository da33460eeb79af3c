// Windows of a pointer as windows of a matrix in row-major order.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_RAISEMATRIX_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_RAISEMATRIX_H

#include "LinearForm.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pypto_frontend {

/// A window as rows of a matrix: its axes before the last one count rows.
struct Matrix {
  LinearForm first; ///< elements that the argument has before it
  mlir::OpFoldResult rows, cols;
  int64_t pitch = 0; ///< elements between two rows; 0 where there is one
  int64_t hint = 0;  ///< of one row: what its view calls the pitch
};

/// Fails with an error for windows whose rows do not lie at even distances.
mlir::FailureOr<Matrix> matrixOf(pto::PartitionViewOp part);
LinearForm formOf(mlir::OpFoldResult extent);
/// Elements of the argument up to the window's last one; nullopt where their number has no bound.
std::optional<int64_t> reach(const Matrix &matrix);
/// Elements between two rows of the matrix that all windows are of: all `elements` where each window has one row.
mlir::FailureOr<int64_t> pitchOf(llvm::ArrayRef<std::pair<mlir::Operation *, Matrix>> windows, int64_t elements);

/// The argument that a pointer is ahead of, and by how many elements.
std::pair<mlir::Value, LinearForm> baseOf(mlir::Value pointer);
/// An offset among elements of which each row has `pitch`: its rows, and what is left.
std::pair<LinearForm, LinearForm> split(const LinearForm &form, int64_t pitch);

} // namespace pto_mlir::pypto_frontend

#endif
