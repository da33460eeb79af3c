//===- Passes.h - top to linalg ---------------------------------*- C++ -*-===//

#ifndef PTO_MLIR_CONVERSION_TOPTOLINALG_PASSES_H
#define PTO_MLIR_CONVERSION_TOPTOLINALG_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pto_mlir {

#define GEN_PASS_DECL
#include "pto_mlir/Conversion/TopToLinalg/Passes.h.inc"

/// Registers convert-top-to-linalg.
void registerTopToLinalgPasses();

} // namespace pto_mlir

#endif // PTO_MLIR_CONVERSION_TOPTOLINALG_PASSES_H
