//===- LowerSlots.h - slots of an alloc_multi_tile to tiles ----------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_LOWERSLOTS_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_LOWERSLOTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

/// Bytes from one slot to the next: where the planner places the slots, each begins as the memory is aligned.
int64_t getSlotStride(AllocMultiTileOp op, bool planned, const Target &arch);

/// Replaces the slots that are taken of `op`, which has an address, by tiles with addresses. `planned`: it is the
/// planner's. A slot that takes turns with the trips of a loop gets kBaseAttr and kBuffersAttr, one computed otherwise
/// kRingAttr.
mlir::LogicalResult lowerSlots(AllocMultiTileOp op, bool planned);

} // namespace pto_mlir::pto

#endif
