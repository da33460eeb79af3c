// The last step: code generation of every kernel, bytecode of the host program, and weights -> .pmodel.
#ifndef PTO_MLIR_COMPILER_MODELBUILDER_H
#define PTO_MLIR_COMPILER_MODELBUILDER_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/Compiler/Compiler.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/PModel/Builder.h"

namespace pto_mlir {

/// The `producer` field of a .pmodel.
inline constexpr const char *kProducer = "pto-mlir 0.1.0";

/// A compiled net; its weights are views of the context's weight store.
struct BuiltModel {
  pmodel::ModelDesc model;
  DeploySummary summary;
};

/// Builds the model of a module lowered by the deploy pipeline to engine functions and a vm.func. Nullopt on failure,
/// with `errors`.
std::optional<BuiltModel> buildModel(mlir::ModuleOp module, const DeployOptions &options, Errors &errors);

/// The net whose host program is `program`, by the name of its module. Nullopt after an error.
std::optional<pmodel::NetDesc> buildNet(mlir::ModuleOp module, vm::FuncOp program,
                                        llvm::ArrayRef<pmodel::KernelDesc> kernels, llvm::StringRef processor);

/// `summary` with the sizes of the written file; nullopt when writing failed, with the error appended to `errors`.
std::optional<DeploySummary> withSizes(DeploySummary summary, const Result<pmodel::WriteSummary> &written,
                                       Errors &errors);

} // namespace pto_mlir

#endif
