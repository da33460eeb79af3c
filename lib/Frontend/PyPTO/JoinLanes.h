// Regions of pl.split_aiv as kernels that both vector cores run.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_JOINLANES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_JOINLANES_H

#include "pypto/ir/function.h"

namespace pto_mlir::pypto_frontend {

/// The statements of a kernel with `lane = pl.tile.get_subblock_idx()` in the place of the only region of pl.split_aiv,
/// where all that the kernel does is in there and nothing is handed to another core. Others stay as they are.
pypto::ir::StmtPtr joinLanes(const pypto::ir::StmtPtr &body);

/// The same for the scopes of an orchestrator.
pypto::ir::FunctionPtr joinLanesOfScopes(const pypto::ir::FunctionPtr &orchestrator);

/// Whether the statements ask which vector core they are on: both of a block run such a kernel.
bool asksForLane(const pypto::ir::StmtPtr &body);

} // namespace pto_mlir::pypto_frontend

#endif
