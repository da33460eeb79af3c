//===- QueuesForLibrary.cpp - queues as the C++ library has them ------------------------------===//

#include "OpenQueues.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <map>

#define DEBUG_TYPE "pto-queues-for-library"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOQUEUESFORLIBRARY
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Whether the tiles of a queue are whole; nothing for a queue that no tile passes on this side.
static std::optional<bool> isWhole(const Queue &queue) {
  for (Operation *user : queue.handle().getUsers())
    if (auto split = user->getAttrOfType<IntegerAttr>("split"))
      return split.getInt() == 0;
  return std::nullopt;
}

/// The library knows parts that differ by one on the way to the vector cores only, and from core to core not at all.
static LogicalResult checkSplits(const Queue &queue) {
  for (Operation *user : queue.handle().getUsers()) {
    auto split = user->getAttrOfType<IntegerAttr>("split");
    bool toCube = queue.both() || queue.dirMask == 2;
    if (split && split.getInt() > 2 && (toCube || queue.direct))
      return user->emitOpError("has no C++: the library divides an odd extent through global memory and on the way to "
                               "the vector cores only");
  }
  return success();
}

/// The library puts tiles a slot apart, also those that are parts.
static LogicalResult checkBuffer(const Queue &queue) {
  for (Value address : {queue.local, queue.peerLocal})
    if (auto reserve = address ? address.getDefiningOp<ReserveBufferOp>() : nullptr) {
      int64_t needed = queue.localSlots * queue.slotBytes;
      if (int64_t size = static_cast<int32_t>(reserve.getSize()); size < needed)
        return reserve.emitOpError("has no C++: the library's queue takes ") << needed << " bytes, not " << size;
    }
  return success();
}

/// The whole body, but for its return, by the first vector core.
static void runByFirstCore(func::FuncOp func) {
  Block &body = func.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Location loc = func.getLoc();
  Value lane = b.create<GetSubBlockIdxOp>(loc);
  Value isFirst =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, lane, b.create<arith::ConstantIntOp>(loc, 0, 64));
  auto branch = b.create<scf::IfOp>(loc, isFirst, /*withElse=*/false);
  Block &inside = *branch.thenBlock();
  inside.getOperations().splice(inside.getTerminator()->getIterator(), body.getOperations(),
                                std::next(branch->getIterator()), body.getTerminator()->getIterator());
}

/// Which vector core does what, where tiles are whole.
static LogicalResult divideCores(func::FuncOp func, ArrayRef<Queue> queues) {
  auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
  bool whole = llvm::any_of(queues, [](const Queue &queue) { return isWhole(queue).value_or(false); });
  if (!kind || kind.getValue() != KernelKind::vector || !whole)
    return success();
  if (!targetOf(func).laneFlags) {
    storeByFirstCore(func);
    return success();
  }
  for (const Queue &queue : queues)
    if (!isWhole(queue).value_or(true))
      return queue.op->emitOpError("has no C++: the library gives whole tiles to the first vector core only, and this "
                                   "function takes halves, too");
  runByFirstCore(func);
  return success();
}

/// Addresses of buffers, which are known, as numbers: functions no longer name each other.
static LogicalResult numberBuffers(ModuleOp module) {
  auto replace = [](Operation *op, int64_t base) {
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(b.create<arith::ConstantIntOp>(op->getLoc(), base, 32));
    op->erase();
  };
  std::map<std::string, int64_t> bases;
  module.walk([&](ReserveBufferOp reserve) {
    if (reserve.getBase())
      bases[bufferOf(reserve.getAddr())] = static_cast<int32_t>(*reserve.getBase());
  });
  WalkResult walked = module.walk([&](Operation *op) {
    if (!isa<ReserveBufferOp, ImportReservedBufferOp>(op))
      return WalkResult::advance();
    auto base = bases.find(bufferOf(op->getResult(0)));
    if (base == bases.end()) {
      op->emitOpError("has no C++: pto-place-reserved has to come first");
      return WalkResult::interrupt();
    }
    replace(op, base->second);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

namespace {
struct QueuesForLibraryPass : pto_mlir::pto::impl::PTOQueuesForLibraryBase<QueuesForLibraryPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Queue> queues;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (failed(openQueues(func)))
        return signalPassFailure();
      func.walk([&](Operation *op) {
        if (Queue queue = Queue::of(op))
          queues.push_back(queue);
      });
    }
    PTO_DEBUG(queues.size() << " ends of queues");
    if (failed(numberFlags(queues)))
      return signalPassFailure();
    llvm::MapVector<Operation *, SmallVector<Queue>> byFunction;
    for (const Queue &queue : queues) {
      if (failed(checkSplits(queue)) || failed(checkBuffer(queue)))
        return signalPassFailure();
      if (!queue.op->hasAttr("nosplit"))
        queue.op->setAttr("nosplit", OpBuilder(queue.op).getBoolAttr(isWhole(queue).value_or(false)));
      byFunction[queue.op->getParentOfType<func::FuncOp>()].push_back(queue);
    }
    for (const auto &[func, opened] : byFunction)
      if (failed(divideCores(cast<func::FuncOp>(func), opened)))
        return signalPassFailure();
    if (failed(numberBuffers(module)))
      signalPassFailure();
  }
};
} // namespace
