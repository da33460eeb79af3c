// Compiles models with control flow: nets and the program that calls them.
#ifndef PTO_MLIR_LIB_COMPILER_CONTROLFLOWMODEL_H
#define PTO_MLIR_LIB_COMPILER_CONTROLFLOWMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/Compiler/ModelBuilder.h"
#include <functional>

namespace pto_mlir {

/// Compiles one net.
using DeployNet = std::function<std::optional<BuiltModel>(mlir::ModuleOp net, const DeployOptions &options)>;

/// Splits a module with control flow, compiles its nets and writes them with the program to `options.modelFile`. Dumps
/// and .pto files go to one folder per net. On failure no file is left behind.
std::optional<DeploySummary> deployControlFlow(mlir::ModuleOp module, const DeployOptions &options,
                                               const DeployNet &deployNet, Errors &errors);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_CONTROLFLOWMODEL_H
