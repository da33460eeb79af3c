//===- PlaceReserved.cpp - addresses of reserved buffers --------------------------------------===//

#include "Accesses.h"
#include "QueueBuffers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#define DEBUG_TYPE "pto-place-reserved"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOPLACERESERVED
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

int64_t pto_mlir::pto::getReservedBytes(ReserveBufferOp reserve, const Target &arch) {
  int64_t bytes = static_cast<int32_t>(reserve.getSize());
  for (Operation *user : reserve.getAddr().getUsers())
    if (Queue queue = Queue::of(user))
      for (Operation *use : queue.handle().getUsers())
        if (auto pop = dyn_cast<TPopOp>(use))
          if (auto tile = dyn_cast<TileBufType>(pop.getTile().getType());
              tile && tile.getLoc() == reserve.getLocation())
            bytes = std::max(bytes, queue.localSlots * queue.placeBytes(getAlignedBytes(tile, arch)));
  return bytes;
}

/// The lowest hole between the tiles, and the other buffers with addresses, of the buffer's memory.
static LogicalResult place(ReserveBufferOp reserve) {
  auto func = reserve->getParentOfType<func::FuncOp>();
  const Target &arch = targetOf(func);
  SmallVector<std::pair<int64_t, int64_t>> taken;
  func.walk([&](AllocTileOp alloc) {
    std::optional<int64_t> address = alloc.getAddr() ? getConstantIntValue(alloc.getAddr()) : std::nullopt;
    if (auto base = alloc->getAttrOfType<IntegerAttr>(kBaseAttr)) // its buffers take turns
      address = base.getInt();
    if (address && alloc.getTileType().getLoc() == reserve.getLocation())
      taken.emplace_back(*address, *address + getAlignedBytes(alloc.getTileType(), arch) * getBuffers(alloc));
  });
  func.walk([&](ReserveBufferOp other) {
    if (!other.getAutoAlloc() && other.getLocation() == reserve.getLocation())
      taken.emplace_back(*other.getBase(), int64_t(*other.getBase()) + static_cast<int32_t>(other.getSize()));
  });
  llvm::sort(taken);
  int64_t at = 0, size = getReservedBytes(reserve, arch);
  for (auto [begin, end] : taken) {
    if (at + size <= begin)
      break;
    at = std::max(at, pto_mlir::roundUp(end, kReservedAlignment));
  }
  LocalLimit limit = getAssemblerLimit(arch, static_cast<unsigned>(reserve.getLocation()));
  if (at + size > limit.bytes)
    return reserve.emitOpError("needs ") << size << " bytes of " << limit.name
                                         << " beside the tiles, which would end at " << at + size << " of "
                                         << limit.bytes;
  reserve.setAutoAlloc(false);
  reserve.setBase(at);
  reserve.setSize(size);
  return success();
}

namespace {
struct PlaceReservedPass : pto_mlir::pto::impl::PTOPlaceReservedBase<PlaceReservedPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](ReserveBufferOp reserve) {
      PTO_DEBUG((reserve.getAutoAlloc() ? "places the buffer at " : "has an address: the buffer at ")
                << reserve.getLoc());
      return reserve.getAutoAlloc() ? WalkResult(place(reserve)) : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
