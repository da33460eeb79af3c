//===- SameKernel.h - kernels that are equal but for names ------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_SAMEKERNEL_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_SAMEKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::kernels {

/// Whether two kernels on tensors are equal but for names.
bool sameKernel(mlir::func::FuncOp a, mlir::func::FuncOp b);

/// Equal for kernels that are.
llvm::hash_code hashKernel(mlir::func::FuncOp kernel);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_SAMEKERNEL_H
