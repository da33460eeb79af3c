// How a value that goes from core to core is divided between the two vector cores of a block.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_LANEDIVISION_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_LANEDIVISION_H

#include "pypto/ir/op_registry.h"

#include <optional>

namespace pto_mlir::pypto_frontend {

/// The axis that a mode divides in a shape of this rank; nothing for NONE.
std::optional<size_t> dividedAxis(pypto::ir::SplitMode mode, size_t rank);

/// The code of `split` for a value of this type that the vector cores take in parts: 0 whole, 1 and 2 halves, 3 and 4
/// parts of which the first one has one more. A consumer finds its part by its own valid extent, so parts that differ
/// by more, or in columns, are refused with what would work.
int64_t shardCode(const pypto::ir::TypePtr &whole, pypto::ir::SplitMode mode, const pypto::ir::Span &span);

/// The same for parts of this type that the cube core takes as one value: all of each must be valid.
int64_t joinCode(const pypto::ir::TypePtr &part, pypto::ir::SplitMode mode, const pypto::ir::Span &span);

/// Refuses parts that pl.aic_gather would not join without a gap.
void checkJoined(const pypto::ir::TypePtr &part, pypto::ir::SplitMode mode, const pypto::ir::Span &span);

/// The valid extents of a type that are 0 on one of the vector cores, where `lane` is the variable with their number.
std::vector<pypto::ir::ExprPtr> emptyExtents(const pypto::ir::TypePtr &type, const pypto::ir::Var *lane);

/// An integer expression on vector core `number`; nothing where more than `lane` decides it.
std::optional<int64_t> onLane(const pypto::ir::ExprPtr &expr, const pypto::ir::Var *lane, int64_t number);

/// Whether vector core `number` has nothing of a value of this type.
bool isEmptyOn(const pypto::ir::TypePtr &type, const pypto::ir::Var *lane, int64_t number);

} // namespace pto_mlir::pypto_frontend

#endif
