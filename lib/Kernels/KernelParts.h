// A kernel as a function for each kind of core.
#ifndef PTO_MLIR_LIB_KERNELS_KERNELPARTS_H
#define PTO_MLIR_LIB_KERNELS_KERNELPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::kernels {

/// Makes `kernel` the cube cores' part of itself, and a copy of it behind it the vector cores': @k and @k.vector.
/// Returns the copy.
mlir::func::FuncOp addVectorPart(mlir::func::FuncOp kernel);

/// Leaves an empty entry block whose arguments have these types, and no results.
void clearBody(mlir::func::FuncOp kernel, llvm::ArrayRef<mlir::Type> types);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_KERNELPARTS_H
