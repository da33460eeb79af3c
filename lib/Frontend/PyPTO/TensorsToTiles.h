// Operations on tensors in a kernel as operations on tiles: windows are loaded, results stored.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TENSORSTOTILES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TENSORSTOTILES_H

#include "pto_mlir/ISA/Table.h"
#include "pypto/ir/program.h"

namespace pto_mlir::pypto_frontend {

/// The kernel with tiles for the tensors that it computes; the same function where it computes none. What it returns of
/// them, and `escaping` (variables of its body that are read behind it), become outputs behind its parameters; `made`:
/// those of `escaping` that do. Products are cut for the memories of `arch`. ValueErrors begin with the place.
pypto::ir::FunctionPtr tensorsToTiles(const pypto::ir::FunctionPtr &function, const isa::ArchInfo &arch,
                                      const std::vector<pypto::ir::VarPtr> &escaping = {},
                                      std::vector<pypto::ir::VarPtr> *made = nullptr);

/// The program with this done to its kernels; where its orchestrator `isRun`, but for those that this runs as several.
pypto::ir::ProgramPtr tensorsToTiles(const pypto::ir::ProgramPtr &program, const isa::ArchInfo &arch,
                                     bool isRun = false);

/// An orchestrator without pl.split_aiv: each lane of a region is a kernel, and each part of its scope between regions.
pypto::ir::FunctionPtr splitLanes(const pypto::ir::FunctionPtr &orchestrator);

/// An orchestrator whose scopes have either products of tensors or vector operations: a scope of both becomes several,
/// which hand tensors on in global memory. What is in one loop or branch stays in one scope.
pypto::ir::FunctionPtr splitMixedScopes(const pypto::ir::FunctionPtr &orchestrator);

/// Whether a body has both; whether a loop or a branch in there does.
bool mixesCores(const pypto::ir::StmtPtr &body);
bool mixesInLoops(const pypto::ir::StmtPtr &body);

/// Whether the body of blocks launches kernels: a statement is a scope of a core, or all are scopes of blocks and
/// calls.
bool launchesKernels(const pypto::ir::StmtPtr &body);

/// A kernel with both, on tensors only, as an orchestrator whose one scope has its statements; null for any other
/// kernel.
pypto::ir::FunctionPtr asOrchestrator(const pypto::ir::FunctionPtr &kernel);
pypto::ir::FunctionPtr withScope(const pypto::ir::FunctionPtr &kernel); ///< the same for any kernel

/// Throws where a call of an operation does not fit its row of the table, as stored programs may.
void verifyCalls(const pypto::ir::ProgramPtr &program);

bool isKernel(const pypto::ir::Function &function);

} // namespace pto_mlir::pypto_frontend

#endif
