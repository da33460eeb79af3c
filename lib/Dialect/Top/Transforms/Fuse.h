// Pattern groups of top-fuse.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FUSE_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FUSE_H

#include "Absorbed.h"

namespace pto_mlir::top {

/// Recognises a normalisation written as means, a difference and a quotient, and forms top.layer_norm.
void populateFuseLayerNorm(mlir::RewritePatternSet &patterns, Absorbed &absorbed);

/// Folds a permute of the last two dimensions of a product's right operand into its transpose_b.
void populateFusePermute(mlir::RewritePatternSet &patterns, Absorbed &absorbed);

/// Folds a constant factor on columns of a product with constant weights, through slices, reshapes and permutes, into
/// the weights.
void populateFuseScale(mlir::RewritePatternSet &patterns, Absorbed &absorbed);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FUSE_H
