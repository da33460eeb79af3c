//===- Attention.h - which attentions have a kernel -------------*- C++ -*-===//
#ifndef PTO_MLIR_KERNELS_ATTENTION_H
#define PTO_MLIR_KERNELS_ATTENTION_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include <string>

namespace pto_mlir::attention {

/// The attention that a kernel on tensors consists of; null if it is another one.
top::AttentionOp attentionIn(mlir::func::FuncOp kernel);

/// Whether build-attention-kernels can build `op` as one kernel for `architecture`; where it cannot, `reason` says why
/// and the op is to be decomposed.
bool canBuild(top::AttentionOp op, llvm::StringRef architecture, std::string *reason = nullptr);

/// Whether separate kernels take less time than the one of an `op` that can be built, by what both are estimated to
/// take; `reason` then says how much. The estimate is that of a whole chip: results are the same on any number of
/// blocks.
bool isFasterApart(top::AttentionOp op, llvm::StringRef architecture, std::string &reason);

/// Whether it can with the extents of the kernel of `op` that are known at run time (pto.sizes); an error on `op` where
/// it cannot.
mlir::LogicalResult checkSizes(top::AttentionOp op);

} // namespace pto_mlir::attention

#endif // PTO_MLIR_KERNELS_ATTENTION_H
