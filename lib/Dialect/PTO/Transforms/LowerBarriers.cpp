//===- LowerBarriers.cpp - a barrier of all engines to flags -----------------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

#define DEBUG_TYPE "pto-lower-barriers"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOLOWERBARRIERS
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

static LogicalResult lower(func::FuncOp func) {
  SmallVector<BarrierOp> barriers;
  std::set<Pipe> engines;
  bool taken = false;
  const int64_t meeting = targetOf(func).eventIds - 1;
  func.walk([&](Operation *op) {
    if (auto barrier = dyn_cast<BarrierOp>(op))
      barriers.push_back(barrier);
    else if (isa<PipeOpInterface>(op) && !isa<TileAliasOpInterface>(op))
      engines.insert(pipeOf(op));
    else if (isa<SetFlagOp>(op))
      taken |= static_cast<int64_t>(cast<SetFlagOp>(op).getEventId()) == meeting;
    else
      taken |= isa<SetFlagDynOp>(op);
  });
  engines.erase(Pipe::PIPE_ALL);
  for (BarrierOp barrier : barriers) {
    if (barrier.getPipe() == Pipe::PIPE_ALL && engines.size() > 1) {
      if (taken)
        return barrier.emitOpError("needs flag ")
               << meeting << " of every pair of engines, which this function also uses by itself";
      OpBuilder b(barrier);
      Pipe first = *engines.begin();
      for (bool back : {false, true})
        for (auto it = std::next(engines.begin()); it != engines.end(); ++it) {
          Pipe src = back ? first : *it, dst = back ? *it : first;
          b.create<SetFlagOp>(barrier.getLoc(), src, dst, meeting);
          b.create<WaitFlagOp>(barrier.getLoc(), src, dst, meeting);
        }
    }
    barrier.erase();
  }
  return success();
}

namespace {
struct LowerBarriersPass : pto_mlir::pto::impl::PTOLowerBarriersBase<LowerBarriersPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](func::FuncOp func) {
      PTO_DEBUG("@" << func.getName());
      return WalkResult(lower(func));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
