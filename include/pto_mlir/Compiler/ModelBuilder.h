// The last step: codegen of every kernel, bytecode of the host program, weights -> .pmodel.
#ifndef PTO_MLIR_COMPILER_MODELBUILDER_H
#define PTO_MLIR_COMPILER_MODELBUILDER_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/Compiler/Compiler.h"
#include "pto_mlir/PModel/Builder.h"

namespace pto_mlir {

/// What a .pmodel says that it was made by.
inline constexpr const char *kProducer = "pto-mlir 0.1.0";

/// A net as it goes into a file; its weights are those of the context's weight store.
struct BuiltModel {
  pmodel::ModelDesc model;
  DeploySummary summary;
};

/// Packs a module that the deploy pipeline has brought to engine functions and a vm.func.
std::optional<BuiltModel> buildModel(mlir::ModuleOp module, const DeployOptions &options, Errors &errors);

/// `summary` with the sizes of the file that was written; nothing, and an error more, where writing failed.
std::optional<DeploySummary> withSizes(DeploySummary summary, const Result<pmodel::WriteSummary> &written,
                                       Errors &errors);

} // namespace pto_mlir

#endif
