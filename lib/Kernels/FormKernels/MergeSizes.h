//===- MergeSizes.h - several sizes at run time as one ----------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_MERGESIZES_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_MERGESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::kernels {

/// In a net with several symbols (top.symbols): ops over [batch, length, ..] become ops over [batch * length, ..], rows
/// of one size, wherever all their operands have both or none. An error of the op whose sizes have no rule.
mlir::LogicalResult mergeSizes(mlir::func::FuncOp main);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_MERGESIZES_H
