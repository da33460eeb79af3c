//===- GlobalViews.h - views of kernel arguments ----------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_GLOBALVIEWS_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_GLOBALVIEWS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace pto_mlir {

/// A strided view of a kernel argument.
struct GlobalView {
  mlir::BlockArgument argument;
  mlir::OpFoldResult offset; ///< in elements
  llvm::SmallVector<mlir::OpFoldResult> sizes, strides;
};

/// Traces `memref` through subviews and reshapes to the argument; emits scalar code at the insertion point. Emits an
/// error for other ops.
mlir::FailureOr<GlobalView> traceGlobal(mlir::OpBuilder &builder, mlir::Value memref);

/// The view as an operand of tload / tstore, with two dimensions or, with further row dimensions, up to five. `pointer`
/// replaces the argument. With `asColumn` a vector is a contiguous column (layout DN).
mlir::FailureOr<mlir::Value> makePartition(mlir::OpBuilder &builder, mlir::Location loc, const GlobalView &view,
                                           mlir::Value pointer, bool asColumn);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_GLOBALVIEWS_H
