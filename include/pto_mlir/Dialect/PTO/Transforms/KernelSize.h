//===- KernelSize.h - the sizes that a launch passes ------------*- C++ -*-===//

#ifndef PTO_MLIR_DIALECT_PTO_TRANSFORMS_KERNELSIZE_H
#define PTO_MLIR_DIALECT_PTO_TRANSFORMS_KERNELSIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::pto {

/// Makes the sizes that are known at run time i64 arguments behind the pointers and replaces each `pto.kernel_size`.
/// Nothing in a function without (`pto.greatest_sizes`).
void takeKernelSizes(mlir::func::FuncOp func);

} // namespace pto_mlir::pto

#endif // PTO_MLIR_DIALECT_PTO_TRANSFORMS_KERNELSIZE_H
