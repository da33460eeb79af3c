// Scopes and kernels of both kinds of core as one task.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_MIXEDKERNELS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_MIXEDKERNELS_H

#include "pto_mlir/Frontend/PyPTO/LowerPyPTO.h"

namespace pto_mlir::pypto_frontend {

/// On a group that a scope or kernel has become.
inline constexpr const char *kFormedAttr = "of_scope";

/// By the names of groups that no program has: the same as an orchestrator with one scope, which becomes several
/// kernels. For launches whose tensors share memory in a way that queues do not order.
using SeveralKernels = std::map<std::string, pypto::ir::FunctionPtr>;

struct MixedProgram {
  pypto::ir::ProgramPtr program;
  SeveralKernels several;
};

/// The program with a Group, which calls a function of each kind of core, for each scope and kernel of both, where that
/// can be divided and `options.compiles` takes it. In blocks, which wait for each other where they write one tensor,
/// only those with a loop of both. All others stay: a run has several kernels for them.
MixedProgram formMixedKernels(const pypto::ir::ProgramPtr &program, const PyPTOOptions &options);

} // namespace pto_mlir::pypto_frontend

#endif
