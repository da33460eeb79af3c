// The groups of patterns that top-fuse runs.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FUSE_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FUSE_H

#include "Absorbed.h"

namespace pto_mlir::top {

/// A normalisation that the model spells out as means, a difference and a quotient becomes top.layer_norm.
void populateFuseLayerNorm(mlir::RewritePatternSet &patterns, Absorbed &absorbed);

/// A permute that exchanges the last two dimensions of a product's right operand becomes its transpose_b.
void populateFusePermute(mlir::RewritePatternSet &patterns, Absorbed &absorbed);

/// A constant factor on some columns of a product with constant weights, behind slices, reshapes and permutes, goes
/// into the weights.
void populateFuseScale(mlir::RewritePatternSet &patterns, Absorbed &absorbed);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_FUSE_H
