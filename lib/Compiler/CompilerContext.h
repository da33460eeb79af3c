// The context of a call of the compiler.
#ifndef PTO_MLIR_LIB_COMPILER_COMPILERCONTEXT_H
#define PTO_MLIR_LIB_COMPILER_COMPILERCONTEXT_H

#include "mlir/IR/MLIRContext.h"
#include "pto_mlir/Pipelines/Registration.h"

namespace pto_mlir {

/// One context per call. Diagnostics are shown to users, so they do not print the IR.
struct CompilerContext : mlir::MLIRContext {
  explicit CompilerContext(Threading threading = Threading::ENABLED) : MLIRContext(makeRegistry(), threading) {
    printOpOnDiagnostic(false);
  }

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
};

} // namespace pto_mlir

#endif
