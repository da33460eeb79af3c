// The passes that stay inside the pto dialect (docs/lowering.md section 6).
#ifndef PTO_MLIR_DIALECT_PTO_TRANSFORMS_PASSES_H
#define PTO_MLIR_DIALECT_PTO_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"

/// From kernels whose tiles have no addresses to such whose engines wait for each other by flags. Without `insertSync`
/// the kernels have flags of their own.
void buildOrderPipeline(mlir::OpPassManager &pm, bool insertSync, bool assemblerLimits);

} // namespace pto_mlir::pto

#endif // PTO_MLIR_DIALECT_PTO_TRANSFORMS_PASSES_H
