// MLIR's diagnostics as lines for the user.
#ifndef PTO_MLIR_LIB_COMPILER_DIAGNOSTICS_H
#define PTO_MLIR_LIB_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "pto_mlir/Compiler/Compiler.h"

namespace pto_mlir {

/// While it lives, errors of the context are appended to `errors`, each with the tensor that it concerns and its notes;
/// remarks (where a pass takes a slow way) to `remarks`, or nowhere.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, Errors &errors, std::vector<std::string> *remarks = nullptr);

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace pto_mlir

#endif
