//===- DropRoundings.h - remove truncations before extensions ---*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_DROPROUNDINGS_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_DROPROUNDINGS_H

#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::kernels {

/// An extension to f32 (the net's outputs in F16 and BF16) moves up through the reshapes, transpositions and relus
/// before it: to the rounding of a contraction or a window, which it cancels, or next to the elementwise op that
/// computes the value, whose kernel then stores f32. A rounding that the model itself asks
/// for (`truncf` with a mode) stays.
void populateDropRoundings(mlir::RewritePatternSet &patterns);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_DROPROUNDINGS_H
