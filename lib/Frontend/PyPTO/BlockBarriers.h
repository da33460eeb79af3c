// Barriers between the blocks of a launch (pl.system.syncall).
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKBARRIERS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKBARRIERS_H

#include "pypto/ir/program.h"

namespace pto_mlir::pypto_frontend {

/// The program without barriers between blocks. Blocks run one after another: a barrier is left out where it orders
/// nothing, that is where no tensor that several blocks have is accessed in front of it and behind it and written at
/// one of both. Any other one ends a phase of its scope (BlockPhases.h), which is a scope of its own then; a kernel
/// with one is written in the place of its calls in pl.spmd. Fails for functions for one kind of core.
pypto::ir::ProgramPtr lowerBlockBarriers(const pypto::ir::ProgramPtr &program);

} // namespace pto_mlir::pypto_frontend

#endif
