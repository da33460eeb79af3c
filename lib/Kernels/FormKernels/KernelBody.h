//===- KernelBody.h - the function that a cluster becomes -------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_KERNELBODY_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_KERNELBODY_H

#include "Clusters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::kernels {

/// A kernel and how @main calls it.
struct Kernel {
  mlir::func::FuncOp func;
  llvm::SmallVector<mlir::Value> inputs;       ///< values of @main, in argument order
  llvm::SmallVector<mlir::Value> outputs;      ///< values of @main that results replace
  llvm::SmallVector<mlir::Type> resultTypes;   ///< differs from the output's only in how dimensions are grouped
  llvm::SmallVector<llvm::StringRef> absorbed; ///< names computed inside, not stored
};

/// Builds the (detached) function of `cluster`, named `name`.
Kernel buildKernel(const Cluster &cluster, llvm::StringRef name, bool keepAll);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_KERNELBODY_H
