//===- GlobalViews.h - parts of kernel arguments ----------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_GLOBALVIEWS_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_GLOBALVIEWS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace pto_mlir {

/// How the elements of a memref lie behind a kernel argument.
struct GlobalView {
  mlir::BlockArgument argument;
  mlir::OpFoldResult offset; ///< in elements
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
};

/// Follows subviews and reshapes of `memref` to the argument; scalar code is
/// inserted at `builder`. Emits an error for other ops.
mlir::FailureOr<GlobalView> traceGlobal(mlir::OpBuilder &builder, mlir::Value memref);

/// The view as operand of tload / tstore, of two dimensions or (more rows
/// dimensions) up to five. `pointer` replaces the argument. With `asColumn` the
/// vector is a column whose elements follow each other (layout DN).
mlir::FailureOr<mlir::Value> makePartition(mlir::OpBuilder &builder, mlir::Location loc, const GlobalView &view,
                                           mlir::Value pointer, bool asColumn);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_GLOBALVIEWS_H
