// MLIR's diagnostics as lines for the user.
#ifndef PTO_MLIR_LIB_PIPELINES_DIAGNOSTICS_H
#define PTO_MLIR_LIB_PIPELINES_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "pto_mlir/Pipelines/Compiler.h"

namespace pto_mlir {

/// While it lives, errors of the context are appended to `errors`, each with the tensor that it concerns and its notes.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, Errors &errors);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pto_mlir

#endif
