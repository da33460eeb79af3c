// MLIR diagnostics as one-line messages for the user.
#ifndef PTO_MLIR_LIB_COMPILER_DIAGNOSTICS_H
#define PTO_MLIR_LIB_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "pto_mlir/Compiler/Compiler.h"

namespace pto_mlir {

/// During its lifetime, errors of the context are appended to `errors`, each with its tensor and notes, and remarks to
/// `remarks` unless null.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, Errors &errors, std::vector<std::string> *remarks = nullptr);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pto_mlir

#endif
