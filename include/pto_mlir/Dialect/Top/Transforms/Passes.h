// Passes within the top dialect.
#ifndef PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_H
#define PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include <functional>

namespace pto_mlir::top {

/// Which attentions top-fuse-attention forms; null for all.
using AttentionFilter = std::function<bool(AttentionOp)>;

/// top-fuse-attention, where `wanted` holds for the op that it would form. Other subgraphs stay as they are.
std::unique_ptr<mlir::Pass> createTopFuseAttention(AttentionFilter wanted);

/// Why no kernel can be built for an op; empty if one can.
using KernelRefusal = std::function<std::string(mlir::Operation *)>;

/// top-legalize-types that also hands to the host what `refusal` refuses.
std::unique_ptr<mlir::Pass> createTopLegalizeTypes(KernelRefusal refusal);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_TRANSFORMS_PASSES_H
