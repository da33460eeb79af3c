// Scopes of blocks that meet at barriers, as a scope for each part between barriers.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKPHASES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKPHASES_H

#include "pypto/ir/function.h"

namespace pto_mlir::pypto_frontend {

bool isBarrier(const pypto::ir::StmtPtr &stmt);
/// Whether a statement is or holds a barrier.
bool holdsBarrier(const pypto::ir::StmtPtr &stmt);

/// The statements that do what `scope`, a scope of blocks, does: one scope for each phase, which is what blocks do
/// between two barriers, so that all blocks end a phase before one begins the next. Loops and branches around a barrier
/// become those of the orchestrator; their bounds must not depend on the block. Tiles and tensors that a later phase
/// reads go through global memory with a part for each block. Fails where a phase needs what only a block has: elements
/// that it read, tiles outside of Vec but for operands of products that can be loaded again and products that are
/// stored.
pypto::ir::StmtPtr cutAtBarriers(const pypto::ir::SpmdScopeStmt &scope);

/// An orchestrator whose scopes of blocks have one kernel each: where one has several, each becomes a phase.
pypto::ir::FunctionPtr cutAtKernels(const pypto::ir::FunctionPtr &orchestrator);

} // namespace pto_mlir::pypto_frontend

#endif
