//===- KernelSize.h - the size that a launch passes -------------*- C++ -*-===//

#ifndef PTO_MLIR_DIALECT_PTO_TRANSFORMS_KERNELSIZE_H
#define PTO_MLIR_DIALECT_PTO_TRANSFORMS_KERNELSIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::pto {

/// Makes the size that is known at run time an i64 argument behind the pointers and replaces each `pto.kernel_size`.
/// Nothing in a function without one (`pto.greatest_size`).
void takeKernelSize(mlir::func::FuncOp func);

} // namespace pto_mlir::pto

#endif // PTO_MLIR_DIALECT_PTO_TRANSFORMS_KERNELSIZE_H
