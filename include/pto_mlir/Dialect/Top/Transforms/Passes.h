// Passes within the top dialect.
#ifndef PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_H
#define PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_H
