// Passes that lower hand-written .pto text to the functions expected by the other pto passes
// (docs/hand-written-kernels.md).
#ifndef PTO_MLIR_FRONTEND_PTO_PASSES_H
#define PTO_MLIR_FRONTEND_PTO_PASSES_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Frontend/PTO/Passes.h.inc"

} // namespace pto_mlir::pto

#endif
