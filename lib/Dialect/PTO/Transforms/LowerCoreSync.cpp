//===- LowerCoreSync.cpp - semaphores between cores to cross-core flags ---------------------------===//

#include "Accesses.h"
#include "CoreFlags.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

#define DEBUG_TYPE "pto-lower-core-sync"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOLOWERCORESYNC
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

template <typename Op> static Value idOf(Op op, OpBuilder &b) {
  if (Value id = op.getEventIdDyn())
    return id;
  return b.create<arith::ConstantIndexOp>(op.getLoc(), static_cast<int32_t>(*op.getEventId()));
}

/// Without lane flags a wait blocks the issue of all later instructions of the core: it is executed by S, and every
/// engine then waits for a flag of S.
static void lower(func::FuncOp func, const Target &arch) {
  bool lanes = arch.laneFlags;
  std::set<Pipe> engines;
  SmallVector<Operation *> ops;
  func.walk([&](Operation *op) {
    if (isEngineOp(op))
      engines.insert(pipeOf(op));
    if (isa<SyncSetOp, SyncWaitOp, CrossWaitOp>(op))
      ops.push_back(op);
    if (auto set = dyn_cast<SyncSetOp>(op))
      engines.insert(pipeOn(arch, set.getPipe()));
  });
  engines.erase(Pipe::PIPE_ALL);
  engines.erase(Pipe::PIPE_S);
  for (Operation *op : ops) {
    Location loc = op->getLoc();
    OpBuilder b(op);
    if (auto set = dyn_cast<SyncSetOp>(op)) {
      raiseFlag(b, loc, set.getPipe(), idOf(set, b), arch, /*isCube=*/set.getPipe() == Pipe::PIPE_FIX,
                set.getFftsMode().value_or(kBlockMode));
      op->erase();
      continue;
    }
    auto wait = dyn_cast<CrossWaitOp>(op);
    if (auto sync = dyn_cast<SyncWaitOp>(op)) {
      wait = b.create<CrossWaitOp>(loc, lanes ? pipeOn(arch, sync.getPipe()) : Pipe::PIPE_S, idOf(sync, b));
      op->erase();
    }
    if (lanes || engines.empty())
      continue;
    b.setInsertionPointAfter(wait);
    Value token = b.create<arith::ConstantIntOp>(loc, 0, 32);
    for (Pipe engine : engines) {
      auto name = PipeAttr::get(b.getContext(), engine);
      b.create<FifoPushOp>(loc, token, name);
      b.create<FifoPopOp>(loc, token.getType())->setAttr(kPipeAttr, name);
    }
  }
}

namespace {
struct LowerCoreSyncPass : pto_mlir::pto::impl::PTOLowerCoreSyncBase<LowerCoreSyncPass> {
  void runOnOperation() override {
    const Target &arch = targetOf(getOperation());
    getOperation().walk([&](func::FuncOp func) {
      PTO_DEBUG("@" << func.getName());
      lower(func, arch);
    });
  }
};
} // namespace
