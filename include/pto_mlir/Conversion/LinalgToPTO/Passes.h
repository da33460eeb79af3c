//===- Passes.h - vector kernels to pto -------------------------*- C++ -*-===//

#ifndef PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES_H
#define PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pto_mlir {

#define GEN_PASS_DECL
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h.inc"

/// Registers every pass of this folder under its command-line name.
void registerVectorLoweringPasses();

} // namespace pto_mlir

#endif // PTO_MLIR_CONVERSION_LINALGTOPTO_PASSES_H
