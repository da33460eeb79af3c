//===- MovementTrees.h - slices, pads and concatenations in one kernel ----===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_MOVEMENTTREES_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_MOVEMENTTREES_H

#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::kernels {

/// Slices of a concatenation or a pad that only concatenations read become concatenations and pads of slices: what is
/// concatenated first and cut again (a roll in two directions, the taps of a padded depth) is copied once.
void populateSinkSlices(mlir::RewritePatternSet &patterns);

/// The slices, pads and concatenations through which a concatenation or a pad reads, which its kernel copies from where
/// they come from; empty where `root` is neither.
llvm::SmallVector<mlir::Operation *> movementTree(mlir::Operation *root);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_MOVEMENTTREES_H
