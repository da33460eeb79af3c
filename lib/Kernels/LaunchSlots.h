// Memory that a kernel needs beside its operands and results.
#ifndef PTO_MLIR_LIB_KERNELS_LAUNCHSLOTS_H
#define PTO_MLIR_LIB_KERNELS_LAUNCHSLOTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/DenseSet.h"

namespace pto_mlir::kernels {

/// The launches of `kernel` in its module.
llvm::SmallVector<top::LaunchOp> launchesOf(mlir::func::FuncOp kernel);

/// The names of the kernels that `main` launches.
llvm::DenseSet<mlir::StringAttr> launchedKernels(mlir::func::FuncOp main);

/// Replaces `launch` by one with outputs of these types, which nothing uses, before its own. Slots are passed as such
/// outputs.
void addSlots(top::LaunchOp launch, llvm::ArrayRef<mlir::RankedTensorType> slots);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_LAUNCHSLOTS_H
