//===- Outline.h - one function per cluster, one launch per use -*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_OUTLINE_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_OUTLINE_H

#include "Clusters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace pto_mlir::kernels {

/// Replaces each cluster of `main` by a kernel function and a `top.launch`,
/// in an order that respects the data flow. Kernels that are equal but for names are made
/// once. With `keepAll` every named value of a vector kernel is stored.
void outlineClusters(mlir::func::FuncOp main, Clusters &clusters, bool keepAll);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_OUTLINE_H
