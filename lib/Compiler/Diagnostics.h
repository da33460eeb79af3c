// MLIR diagnostics as one-line messages for the user.
#ifndef PTO_MLIR_LIB_COMPILER_DIAGNOSTICS_H
#define PTO_MLIR_LIB_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
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

/// Runs the pipeline; adds an error message for a failure without a diagnostic.
bool runPasses(mlir::PassManager &pm, mlir::ModuleOp module, Errors &errors);

/// Prefixes each message with the file name given by the user.
void nameFile(const std::string &file, Errors &errors);

/// Attribute of a top module: the preprocessing that model_transform was given, as JSON.
inline constexpr llvm::StringLiteral kPreprocessAttr = "top.preprocess";

} // namespace pto_mlir

#endif
