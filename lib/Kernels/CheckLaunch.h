// What every pass that builds kernels for a launch asks first.
#ifndef PTO_MLIR_LIB_KERNELS_CHECKLAUNCH_H
#define PTO_MLIR_LIB_KERNELS_CHECKLAUNCH_H

#include "mlir/IR/BuiltinOps.h"

namespace pto_mlir {

/// An error of `module` if `numCores`, the option num-cores (0: unknown), is negative or its architecture is not known.
llvm::LogicalResult checkLaunch(mlir::ModuleOp module, int64_t numCores);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_KERNELS_CHECKLAUNCH_H
