// Functions that expressions call and that neither C++ nor the ISA's library has.
#ifndef PTO_MLIR_LIB_TARGET_CPP_HELPERS_H
#define PTO_MLIR_LIB_TARGET_CPP_HELPERS_H

#include "mlir/IR/BuiltinOps.h"

namespace pto_mlir::cpp {

/// The helper that an arith op is a call of; empty for others.
llvm::StringRef helperOf(mlir::Operation *op);

/// Defines the helpers that the ops of `module` call.
void printHelpers(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace pto_mlir::cpp

#endif
