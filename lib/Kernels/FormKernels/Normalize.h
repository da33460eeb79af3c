//===- Normalize.h - canonical forms for clustering -------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_NORMALIZE_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_NORMALIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::kernels {

/// Puts splat operands of generics into their bodies as scalars, other inline
/// constants into the weight store, drops roundings whose values become f32 again (DropRoundings.h), and (unless
/// `keepAll`, because it changes the shape of named values) moves reshapes that only drop unit dimensions above the
/// elementwise op they follow, so that it can share a kernel with its user.
void normalize(mlir::func::FuncOp main, bool keepAll);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_NORMALIZE_H
