// The bytecode of a model with control flow.
#ifndef PTO_MLIR_LIB_COMPILER_HOSTPROGRAM_H
#define PTO_MLIR_LIB_COMPILER_HOSTPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "pto_mlir/PModel/Model.h"

namespace pto_mlir {

/// The program of a module split by convert-control-to-vm, or of an orchestrator, for `target`. Arguments with
/// vm::kPresetAttr must be the last. `locations`: faults name the source. Nullopt after an error.
std::optional<pmodel::HostProgramDesc> hostProgram(mlir::ModuleOp module, const std::string &target,
                                                   std::vector<std::string> &errors, bool locations = false);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_COMPILER_HOSTPROGRAM_H
