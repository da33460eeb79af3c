//===- Attention.h - which attentions have a kernel -------------*- C++ -*-===//
#ifndef PTO_MLIR_KERNELS_ATTENTION_H
#define PTO_MLIR_KERNELS_ATTENTION_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include <string>

namespace pto_mlir::attention {

/// Whether build-attention-kernels can build `op` as one kernel for `architecture`; where it cannot, `reason` says why
/// and the op is to be decomposed.
bool canBuild(top::AttentionOp op, llvm::StringRef architecture, std::string *reason = nullptr);

} // namespace pto_mlir::attention

#endif // PTO_MLIR_KERNELS_ATTENTION_H
