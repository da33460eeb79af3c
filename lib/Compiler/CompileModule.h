// A module of hand-written or PyPTO's pto functions to a file.
#ifndef PTO_MLIR_LIB_COMPILER_COMPILEMODULE_H
#define PTO_MLIR_LIB_COMPILER_COMPILEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/Compiler/CompilePTO.h"

namespace pto_mlir {

/// Runs the pipelines on what a parsed `.pto` is and writes `options.output`. `host`: a module with a `vm.func @main`
/// that launches the kernels, which becomes a net of the `.pmodel`; null: kernels only.
std::optional<ProgramSummary> compileModule(mlir::ModuleOp module, const ProgramOptions &options,
                                            llvm::StringRef processor, Errors &errors, mlir::ModuleOp host = {});

/// Whether the kernels of the module, which is changed, become commands.
bool kernelsCompile(mlir::ModuleOp module, const ProgramOptions &options, llvm::StringRef processor);

} // namespace pto_mlir

#endif
