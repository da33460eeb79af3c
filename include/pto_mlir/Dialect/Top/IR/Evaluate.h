// Constant evaluation of top ops.
#ifndef PTO_MLIR_DIALECT_TOP_IR_EVALUATE_H
#define PTO_MLIR_DIALECT_TOP_IR_EVALUATE_H

#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

namespace pto_mlir::top {

/// The result of a top op whose operands are all constants: elementwise ops (floats computed in double and rounded
/// once, integers in 64 bits), cast, reductions, reshape, permute, concat, slice, pad. nullopt if an operand is not
/// constant, the op is not supported, or the result is undefined (integer division by 0).
std::optional<Weight> evaluate(mlir::Operation *op);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_EVALUATE_H
