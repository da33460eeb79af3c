//===- LowerEvents.cpp - lower events to flags of engines -------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "pto-lower-events"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOLOWEREVENTS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// A flag between the engines that carry out two kinds of ops; none where one engine carries out both in its order.
template <typename FlagOp, typename EventOp> void lowerFlag(OpBuilder &b, EventOp event) {
  const Target &arch = targetOf(event);
  Pipe src = pipeOn(arch, getEventPipe(event.getSrcOp())), dst = pipeOn(arch, getEventPipe(event.getDstOp()));
  bool merged = src == dst && getEventPipe(event.getSrcOp()) != getEventPipe(event.getDstOp());
  if (!merged)
    b.create<FlagOp>(event.getLoc(), src, dst, static_cast<int64_t>(event.getEventId()));
}

struct LowerEventsPass : pto_mlir::pto::impl::PTOLowerEventsBase<LowerEventsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      OpBuilder b(op);
      if (auto record = dyn_cast<RecordEventOp>(op))
        lowerFlag<SetFlagOp>(b, record);
      else if (auto wait = dyn_cast<WaitEventOp>(op))
        lowerFlag<WaitFlagOp>(b, wait);
      else if (auto barrier = dyn_cast<BarrierSyncOp>(op))
        b.create<BarrierOp>(op->getLoc(), PipeAttr::get(op->getContext(), getEventPipe(barrier.getOpType())));
      else
        return;
      PTO_DEBUG(op->getName() << " at " << op->getLoc());
      op->erase();
    });
  }
};
} // namespace
