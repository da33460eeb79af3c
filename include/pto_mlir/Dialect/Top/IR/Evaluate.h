// Computes ops whose operands are all constants.
#ifndef PTO_MLIR_DIALECT_TOP_IR_EVALUATE_H
#define PTO_MLIR_DIALECT_TOP_IR_EVALUATE_H

#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

namespace pto_mlir::top {

/// The result of a top op with constant operands: elementwise ops (floats computed in double and rounded once, integers
/// in 64 bits), cast, reshape, permute, concat, slice, pad. Nullopt when an operand is no constant, the op is another
/// one, or the result is undefined (x / 0 on integers).
std::optional<Weight> evaluate(mlir::Operation *op);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_EVALUATE_H
