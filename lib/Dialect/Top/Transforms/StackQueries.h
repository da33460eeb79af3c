// Heads that share keys and values as the rows of one head.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_STACKQUERIES_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_STACKQUERIES_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::top {

/// Makes the heads of Q that share a head of K and V the rows of one head, where the rows follow each other, as in a
/// decoder's step: K and V are read once. Returns the new attention; null where rows would see other keys or need
/// another bias than heads.
AttentionOp stackQueries(AttentionOp op, mlir::RewriterBase &rewriter);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_STACKQUERIES_H
