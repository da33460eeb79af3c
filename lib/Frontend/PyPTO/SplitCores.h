// A kernel of both kinds of core as one function of each, with queues between them.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_SPLITCORES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_SPLITCORES_H

#include "pypto/ir/function.h"

#include <optional>

namespace pto_mlir::pypto_frontend {

struct CoreFunctions {
  pypto::ir::FunctionPtr cube, vector;
  pypto::ir::FunctionPtr group; ///< calls both; has the kernel's name, parameters and results
};

/// The functions NAME_aic, NAME_aiv and NAME; nothing where the kernel needs one kind of core only. Both have the
/// kernel's loops and branches with their own operations; a value that the other one reads goes through a queue of its
/// own, in the order of the program. Throws with the place for what cannot be divided so.
std::optional<CoreFunctions> splitCores(const pypto::ir::FunctionPtr &kernel);

} // namespace pto_mlir::pypto_frontend

#endif
