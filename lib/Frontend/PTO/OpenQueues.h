//===- OpenQueues.h - queues of front ends as values --------------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_FRONTEND_PTO_OPENQUEUES_H
#define PTO_MLIR_LIB_FRONTEND_PTO_OPENQUEUES_H

#include "../../Dialect/PTO/Transforms/QueueBuffers.h"

namespace pto_mlir::pto {

/// `aic_initialize_pipe`, `aiv_initialize_pipe` and their pushes, pops and frees as values: `initialize_l2g2l_pipe` or
/// `initialize_l2l_pipe`, `tpush`, `tpop` of a `declare_tile`, `tfree`.
llvm::LogicalResult openQueues(mlir::func::FuncOp func);

/// Assigns a flag_base to queues without one, the same on both sides.
llvm::LogicalResult numberFlags(llvm::MutableArrayRef<Queue> queues);

} // namespace pto_mlir::pto

#endif
