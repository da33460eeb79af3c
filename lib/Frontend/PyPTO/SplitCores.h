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

/// The group of two functions alone, with the name, parameters and directions of `kernel`.
pypto::ir::FunctionPtr groupOf(const pypto::ir::Function &kernel, const std::string &cube, const std::string &vector);

/// The same with the work of the vector cores divided between both, for a kernel under pl.split: loads, operations and
/// stores of rows (columns) by halves, or by equal parts of what is valid. `takesUneven`: queues may divide odd
/// extents. As it was where an operation needs the whole, as a sum over the axis that is divided. Throws where only a
/// value that no queue brings keeps parts from being equal.
CoreFunctions splitHalves(const CoreFunctions &cores, pypto::ir::SplitMode mode, bool takesUneven);

} // namespace pto_mlir::pypto_frontend

#endif
