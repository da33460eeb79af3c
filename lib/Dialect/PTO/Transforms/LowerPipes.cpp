//===- LowerPipes.cpp - queues between cores to slots and cross-core flags ------------------------===//
//
// A queue is a ring of slots in global memory. Its n-th push stores to slot n rem slots and raises a flag; its n-th pop
// waits for the flag and loads the slot into place n rem (local slots) of a local buffer. Room is returned every
// `period` tiles by a second flag (pto-isa 1.5). A queue from core to core has its slots in the consumer's local
// buffer: a push moves the tile there, a pop only waits.
//
//===----------------------------------------------------------------------------------------------===//

#include "QueueLowering.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#define DEBUG_TYPE "pto-lower-pipes"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOLOWERPIPES
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Numbers the queues and checks that this core's architecture and the place of each allow it.
LogicalResult QueueLowering::collect() {
  WalkResult direct = func.walk([&](Operation *op) {
    if (Queue queue = Queue::of(op)) {
      queueNumber[queue.handle()] = queues.size();
      queues.push_back(queue);
      if (op->getBlock() != &func.getBody().front()) {
        op->emitOpError("opens a queue inside of control flow; open it at the top of the function");
        return WalkResult::interrupt();
      }
      if (queue.direct && !arch.directTiles) {
        op->emitOpError("opens a queue from core to core, which ")
            << arch.name << " has not; initialize_l2g2l_pipe goes through global memory";
        return WalkResult::interrupt();
      }
    }
    if (auto split = op->getAttrOfType<IntegerAttr>("split"); split && isa<TPushOp, TPopOp>(op))
      usesWhole |= split.getInt() == 0;
    return WalkResult::advance();
  });
  return failure(direct.wasInterrupted());
}

LogicalResult QueueLowering::run() {
  if (failed(collect()))
    return failure();
  if (queues.empty()) {
    func.walk([](ReserveBufferOp reserve) {
      if (reserve->use_empty())
        reserve.erase();
    });
    return success();
  }
  if (usesWhole && !isCube)
    storeByFirstCore(func);
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Counts counts(queues.size() * kCounts, b.create<arith::ConstantIndexOp>(func.getLoc(), 0));
  if (failed(lowerBlock(func.getBody().front(), counts)))
    return failure();
  Operation *end = func.getBody().front().getTerminator();
  for (Queue queue : queues) {
    if (queue.dirMask & (isCube ? 1 : 2))
      drain(end, sideOf(queue, true), counts[countOf(queue.handle(), kPushed)]);
    dead.push_back(queue.op);
  }
  return eraseDead();
}

LogicalResult QueueLowering::eraseDead() {
  func.walk([&](Operation *op) {
    if (isa<DeclareTileOp, ReserveBufferOp>(op))
      dead.push_back(op);
  });
  for (Operation *op : dead) {
    if (!op->use_empty())
      return op->emitOpError("is used where no tpop has filled it");
    op->erase();
  }
  return success();
}

namespace {
struct LowerPipesPass : pto_mlir::pto::impl::PTOLowerPipesBase<LowerPipesPass> {
  void runOnOperation() override {
    Bases bases;
    getOperation().walk([&](ReserveBufferOp reserve) {
      if (auto names = reserve->getAttrOfType<ArrayAttr>(kBufferNamesAttr); names && reserve.getBase())
        bases[cast<StringAttr>(names[0]).str()] = static_cast<int32_t>(*reserve.getBase());
    });
    WalkResult result = getOperation().walk([&](func::FuncOp func) {
      auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
      PTO_DEBUG("@" << func.getName() << (kind ? "" : ": of no core"));
      return kind ? WalkResult(QueueLowering(func, kind.getValue(), bases).run()) : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
