// Extents of tensors as expressions of the variables that a program leaves open (pl.dynamic).
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_EXTENTS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_EXTENTS_H

#include "pypto/ir/expr.h"

#include <optional>
#include <utility>
#include <vector>

namespace pto_mlir::pypto_frontend {

/// The only variable of an extent, and what is done with the extent to have it: {Sub, 4}, {FloorDiv, 2} for M * 2 + 4.
struct SolvedExtent {
  pypto::ir::VarPtr symbol;
  std::vector<std::pair<pypto::ir::NodeKind, int64_t>> steps;
};

/// Nothing where the variable does not follow from the extent.
std::optional<SolvedExtent> solveExtent(const pypto::ir::ExprPtr &extent);

/// The variables of an extent, in the order of its text.
std::vector<pypto::ir::VarPtr> symbolsOf(const pypto::ir::ExprPtr &extent);

} // namespace pto_mlir::pypto_frontend

#endif
