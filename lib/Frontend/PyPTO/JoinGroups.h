// Kernels of groups whose functions meet by events only.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_JOINGROUPS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_JOINGROUPS_H

#include "Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "pypto/ir/program.h"

namespace pto_mlir::pypto_frontend {

/// Functions that share a queue are joined by its buffer (pto-join-cores). Events name no peer: the two functions of a
/// group that has nothing else become sections of one kernel, named after the cube core's.
void joinGroups(mlir::ModuleOp module, const pypto::ir::Program &program);
/// The same for a kernel of the cube core that an orchestrator has planned with its peer.
void joinPlanned(mlir::ModuleOp module, const PlannedKernel &kernel);

} // namespace pto_mlir::pypto_frontend

#endif
