//===- PTOExtra.h - the ops that only hand-written kernels use ------*- C++ -*-===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOEXTRA_H
#define PTO_MLIR_DIALECT_PTO_IR_PTOEXTRA_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/PTO/IR/PTOExtraOps.h.inc"

namespace pto_mlir::pto {

/// Gives the pto dialect of every context made from `registry` the ops of PTOExtraOps.td.
void registerExtraOps(mlir::DialectRegistry &registry);

/// The engine that a class of ops stands for (record_event, barrier_sync, get_buf).
Pipe getEventPipe(SyncOpType type);
/// Of a `#pto.pipe_event_type` or `#pto.sync_op_type`.
Pipe getEventPipe(mlir::Attribute type);

} // namespace pto_mlir::pto

#endif
