//===- Passes.h - Passes of code generation -------------------------------===//

#ifndef PTO_MLIR_BACKEND_PASSES_H
#define PTO_MLIR_BACKEND_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace pto_mlir::backend {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Backend/Passes.h.inc"

} // namespace pto_mlir::backend

#endif
