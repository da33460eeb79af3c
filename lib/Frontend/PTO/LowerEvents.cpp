//===- LowerEvents.cpp - lower events to flags of engines -------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOLOWEREVENTS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
struct LowerEventsPass : pto_mlir::pto::impl::PTOLowerEventsBase<LowerEventsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      OpBuilder b(op);
      if (auto record = dyn_cast<RecordEventOp>(op))
        b.create<SetFlagOp>(op->getLoc(), getEventPipe(record.getSrcOp()), getEventPipe(record.getDstOp()),
                            static_cast<int64_t>(record.getEventId()));
      else if (auto wait = dyn_cast<WaitEventOp>(op))
        b.create<WaitFlagOp>(op->getLoc(), getEventPipe(wait.getSrcOp()), getEventPipe(wait.getDstOp()),
                             static_cast<int64_t>(wait.getEventId()));
      else if (auto barrier = dyn_cast<BarrierSyncOp>(op))
        b.create<BarrierOp>(op->getLoc(), PipeAttr::get(op->getContext(), getEventPipe(barrier.getOpType())));
      else
        return;
      op->erase();
    });
  }
};
} // namespace
