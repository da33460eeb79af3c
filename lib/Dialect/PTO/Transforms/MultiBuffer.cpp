//===- MultiBuffer.cpp - mark tiles that two halves of memory serve in turn -----------===//

#include "Accesses.h"
#include "QueueBuffers.h"
#include "TripBounds.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "pto-multi-buffer"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOMULTIBUFFER
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Written before it is read in every trip, and touched by more than one engine.
static bool wantsTwo(AllocTileOp alloc) {
  auto loop = dyn_cast<scf::ForOp>(alloc->getParentOp());
  if (!loop || getTripBounds(loop).most < 2 || alloc.getAddr() || alloc->hasAttr(kBuffersAttr))
    return false;
  llvm::SmallDenseSet<Pipe> engines;
  llvm::SmallDenseSet<Operation *> users;
  for (Operation *user : getMemoryUsers(alloc.getResult())) {
    users.insert(user);
    if (isa<PipeOpInterface>(user))
      engines.insert(pipeOf(user));
  }
  if (engines.size() < 2)
    return false;
  // The first user in program order decides whether the trip begins with fresh contents.
  Operation *first = nullptr;
  loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isEngineOp(op) || !users.contains(op))
      return WalkResult::advance();
    first = op;
    return WalkResult::interrupt();
  });
  if (!first)
    return false;
  bool reads = false, writes = false;
  for (const Access &access : collectAccesses(first))
    if (!access.global && access.root == alloc.getResult())
      (access.write ? writes : reads) = true;
  return writes && !reads;
}

/// Whether tiles of the queue arrive in this core's memory at an address of the program's own.
static bool hasOwnAddress(Queue queue, bool isCube) {
  if (!queue || !(queue.dirMask & (isCube ? 2 : 1)))
    return false;
  Value address = queue.both() && isCube ? queue.peerLocal : queue.local;
  return !address || !address.getDefiningOp<ReserveBufferOp>();
}

/// Whether the program itself fixes the order of the engines (flags), or the addresses of its queues.
static bool ordersItself(func::FuncOp func) {
  auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
  bool isCube = kind && kind.getValue() == KernelKind::cube;
  return func
      .walk([&](Operation *op) {
        bool fixes = isa<SetFlagOp, WaitFlagOp, SetFlagDynOp, WaitFlagDynOp, BarrierOp>(op);
        return fixes || hasOwnAddress(Queue::of(op), isCube) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static unsigned loopDepth(Operation *op) {
  unsigned depth = 0;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
    ++depth;
  return depth;
}

SmallVector<AllocTileOp> pto_mlir::pto::tilesWithTwoBuffers(func::FuncOp func, bool remark) {
  SmallVector<AllocTileOp> doubled;
  if (ordersItself(func))
    return doubled;
  const Target &arch = targetOf(func);
  DenseMap<unsigned, int64_t> used; // by memory, in bytes
  func.walk([&](ReserveBufferOp reserve) {
    used[static_cast<unsigned>(reserve.getLocation())] +=
        pto_mlir::roundUp(getReservedBytes(reserve, arch), kReservedAlignment);
  });
  func.walk([&](AllocMultiTileOp slots) {
    used[static_cast<unsigned>(slots.getTileType().getLoc())] +=
        getAlignedBytes(slots.getTileType(), arch) * slots.getResult().getType().getCount();
  });
  SmallVector<AllocTileOp> candidates;
  func.walk([&](AllocTileOp alloc) {
    used[static_cast<unsigned>(alloc.getTileType().getLoc())] +=
        getAlignedBytes(alloc.getTileType(), arch) * getBuffers(alloc);
    if (wantsTwo(alloc))
      candidates.push_back(alloc);
  });
  // Inner loops first: what they load comes more often.
  llvm::stable_sort(candidates, [](AllocTileOp a, AllocTileOp b) { return loopDepth(a) > loopDepth(b); });
  for (AllocTileOp alloc : candidates) {
    unsigned space = static_cast<unsigned>(alloc.getTileType().getLoc());
    int64_t bytes = getAlignedBytes(alloc.getTileType(), arch);
    if (used[space] + bytes > getLocalLimit(arch, space).bytes) {
      if (remark)
        alloc.emitRemark("has a single buffer: a second one of ")
            << bytes << " bytes exceeds the memory, so loads and computation take turns";
      continue;
    }
    used[space] += bytes;
    doubled.push_back(alloc);
  }
  return doubled;
}

namespace {
struct MultiBufferPass : public pto_mlir::pto::impl::PTOMultiBufferBase<MultiBufferPass> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) { mark(func); });
  }

  static void mark(func::FuncOp func) {
    for (AllocTileOp alloc : tilesWithTwoBuffers(func, /*remark=*/true)) {
      PTO_DEBUG("@" << func.getName() << ": two buffers for " << alloc.getTileType());
      alloc->setAttr(kBuffersAttr, IntegerAttr::get(IntegerType::get(func.getContext(), 32), 2));
    }
  }
};
} // namespace
