//===- QueueBuffers.h - queues, and which buffer their tiles arrive in --*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_QUEUEBUFFERS_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_QUEUEBUFFERS_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace pto_mlir::pto {

/// On a reserve_buffer its name in the module; on a queue the names of the buffers behind its local addresses ("" for
/// other addresses). pto-join-cores writes them, before functions lose their names.
inline constexpr llvm::StringLiteral kBufferNamesAttr = "pto.buffer_names";

/// On the op of a front end that opens a queue: how many slots it has, where these are fewer than 8, or 4 in each of
/// two directions.
inline constexpr llvm::StringLiteral kSlotNumAttr = "slot_num";

/// On the same op: how many places a queue through global memory has in the consumer's buffer, where these are fewer
/// than its slots.
inline constexpr llvm::StringLiteral kLocalSlotNumAttr = "local_slot_num";

/// "function/name" of the reserved buffer that an address is of, the same on both sides of a queue; empty for any other
/// address.
inline std::string bufferOf(mlir::Value address) {
  if (!address)
    return "";
  if (auto reserve = address.getDefiningOp<ReserveBufferOp>())
    return (reserve->getParentOfType<mlir::func::FuncOp>().getName() + "/" + reserve.getName()).str();
  if (auto import = address.getDefiningOp<ImportReservedBufferOp>())
    return (import.getPeerFunc() + "/" + import.getName()).str();
  return "";
}

/// The `id` of a front end's queue that the op opens or uses; 0 where it says none.
inline int64_t queueId(mlir::Operation *op) {
  auto id = op->getAttrOfType<mlir::IntegerAttr>("id");
  return id ? id.getInt() : 0;
}

/// initialize_l2l_pipe or initialize_l2g2l_pipe.
struct Queue {
  mlir::Operation *op = nullptr;
  bool direct = false; // from core to core; else through global memory
  int64_t dirMask = 0, slots = 0, localSlots = 0, slotBytes = 0;
  std::optional<int64_t> flagBase;
  mlir::Value gm, local, peerLocal; // the second address is that of vector-to-cube tiles, with both directions

  explicit operator bool() const { return op != nullptr; }

  /// The queue that `op` opens; none for other ops.
  static Queue of(mlir::Operation *op) {
    Queue queue;
    auto take = [&](auto init) {
      queue.op = init;
      queue.dirMask = static_cast<int8_t>(init.getDirMask());
      queue.slots = queue.localSlots = static_cast<int32_t>(init.getSlotNum());
      queue.slotBytes = static_cast<int32_t>(init.getSlotSize());
      if (init.getFlagBase())
        queue.flagBase = static_cast<int32_t>(*init.getFlagBase());
      queue.local = init.getLocalAddr();
      queue.peerLocal = init.getPeerLocalAddr();
    };
    if (auto init = llvm::dyn_cast_or_null<InitializeL2G2LPipeOp>(op)) {
      take(init);
      queue.gm = init.getGmAddr();
      queue.localSlots = static_cast<int32_t>(init.getLocalSlotNum().value_or(init.getSlotNum()));
    } else if (auto init = llvm::dyn_cast_or_null<InitializeL2LPipeOp>(op)) {
      take(init);
      queue.direct = true;
    }
    return queue;
  }
  static Queue of(mlir::Value handle) { return of(handle.getDefiningOp()); }

  mlir::Value handle() const { return op->getResult(0); }
  bool both() const { return dirMask == 3; }
  /// Cross-core flags that it needs: filled and free for each direction.
  int64_t numFlags() const { return both() ? 4 : 2; }

  /// Bytes from one place of the local ring to the next, for such tiles. Tiles from core to core lie a slot apart, as
  /// the assembler's do.
  int64_t placeBytes(int64_t alignedTileBytes) const {
    return direct ? std::max(slotBytes, alignedTileBytes) : alignedTileBytes;
  }
};

/// The store becomes one of the first vector core of a block: with whole tiles both hold the same.
void byFirstCore(mlir::Operation *store);
/// So do all stores of a vector function that does not ask which core it is on.
void storeByFirstCore(mlir::func::FuncOp func);

/// Bytes of a reserved buffer: what it declares, or what the tiles of its queues take, if that is more.
int64_t getReservedBytes(ReserveBufferOp reserve, const Target &arch);

/// Reserved buffers that get their addresses behind the tiles are multiples of this (pto-dialect 6.3).
inline constexpr int64_t kReservedAlignment = 256;

} // namespace pto_mlir::pto

#endif
