// Barriers between the blocks of a launch (pl.system.syncall).
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKBARRIERS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKBARRIERS_H

#include "pypto/ir/program.h"

namespace pto_mlir::pypto_frontend {

/// The program without barriers between blocks. Blocks run one after another, so a barrier is only left out where it
/// orders nothing: no tensor that several blocks have is accessed in front of it and behind it, and written at one of
/// both. Fails at any other one.
pypto::ir::ProgramPtr dropBlockBarriers(const pypto::ir::ProgramPtr &program);

} // namespace pto_mlir::pypto_frontend

#endif
