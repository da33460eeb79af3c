//===- CheckQueues.cpp - both sides of a queue agree ---------------------------------------===//

#include "../../Dialect/PTO/Transforms/QueueBuffers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <map>

#define DEBUG_TYPE "pto-check-queues"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOCHECKQUEUES
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// An op that opens one side of a queue.
struct Side {
  Operation *op;
  std::optional<bool> nosplit;               // as written
  bool usedWhole = false, usedSplit = false; // by its pushes, pops and frees
};
} // namespace

static void countUse(Operation *op, Side &side) {
  auto split = op->getAttrOfType<IntegerAttr>("split");
  if (split && isa<TPushOp, TPopOp, TFreeOp, TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, TFreeFromAicOp,
                   TFreeFromAivOp>(op))
    (split.getInt() == 0 ? side.usedWhole : side.usedSplit) = true;
}

namespace {
struct CheckQueuesPass : pto_mlir::pto::impl::PTOCheckQueuesBase<CheckQueuesPass> {
  void runOnOperation() override {
    std::vector<Side> sides;
    std::vector<SmallVector<std::string, 2>> buffers;
    getOperation().walk([&](Operation *op) {
      Side side{op};
      SmallVector<std::string, 2> used;
      auto take = [&](auto init, std::initializer_list<Value> addresses) {
        side.nosplit = init.getNosplit();
        for (Value address : addresses)
          if (std::string buffer = bufferOf(address); !buffer.empty())
            used.push_back(buffer);
      };
      if (auto init = dyn_cast<AicInitializePipeOp>(op))
        take(init, {init.getC2vConsumerBuf(), init.getV2cConsumerBuf()});
      else if (auto init = dyn_cast<AivInitializePipeOp>(op))
        take(init, {init.getC2vConsumerBuf(), init.getV2cConsumerBuf()});
      else if (auto init = dyn_cast<InitializeL2LPipeOp>(op))
        take(init, {init.getLocalAddr(), init.getPeerLocalAddr()});
      else if (auto init = dyn_cast<InitializeL2G2LPipeOp>(op))
        take(init, {init.getLocalAddr(), init.getPeerLocalAddr()});
      else
        return;
      if (op->getNumResults() == 0)
        op->getParentOfType<func::FuncOp>().walk([&](Operation *user) {
          if (queueId(user) == queueId(op))
            countUse(user, side);
        });
      else
        for (Operation *user : op->getResult(0).getUsers())
          countUse(user, side);
      sides.push_back(side);
      buffers.push_back(used);
    });

    PTO_DEBUG(sides.size() << " sides of queues");

    // Sides that share a buffer are one queue.
    llvm::EquivalenceClasses<size_t> queues;
    std::map<std::string, size_t> owner;
    for (size_t i = 0; i < sides.size(); ++i) {
      queues.insert(i);
      for (const std::string &buffer : buffers[i])
        queues.unionSets(i, owner.insert({buffer, i}).first->second);
    }
    for (size_t leader = 0; leader < sides.size(); ++leader) {
      if (queues.getLeaderValue(leader) != leader)
        continue;
      SmallVector<Side *> members;
      bool reserved = false;
      for (size_t i = 0; i < sides.size(); ++i)
        if (queues.isEquivalent(i, leader)) {
          members.push_back(&sides[i]);
          reserved |= !buffers[i].empty();
        }
      if (failed(check(members, reserved)))
        return signalPassFailure();
    }
    WalkResult result = getOperation().walk([](AicInitializePipeOp init) -> WalkResult {
      if (init.getGmSlotBuffer() || targetOf(init).directTiles)
        return success();
      return init.emitOpError("needs a gm_slot_buffer on ")
             << targetOf(init).name << ", which has no way from core to core";
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static LogicalResult check(ArrayRef<Side *> members, bool reserved) {
    Side whole{nullptr};
    for (Side *side : members) {
      whole.usedWhole |= side->usedWhole;
      whole.usedSplit |= side->usedSplit;
      bool internal = side->op->getNumResults() != 0, based = side->op->hasAttr("flag_base");
      if (internal && !based && !reserved)
        return side->op->emitOpError("needs a flag_base, because its local address is of no reserved buffer");
      if (internal && !based && members.size() < 2)
        return side->op->emitOpError("has no other side: nothing else opens a queue on its reserved buffer");
    }
    for (Side *side : members) {
      if (whole.usedWhole && whole.usedSplit)
        return side->op->emitOpError(
            "is used with split 0 and with another split; one queue takes whole tiles or halves, on both sides");
      if (side->nosplit == true && whole.usedSplit)
        return side->op->emitOpError("says nosplit = true, but tiles are split");
      if (side->nosplit == false && whole.usedWhole)
        return side->op->emitOpError("says nosplit = false, but tiles are pushed or popped with split 0");
      if (side->nosplit && members.front()->nosplit && *side->nosplit != *members.front()->nosplit)
        return side->op->emitOpError("says another nosplit than its other side");
    }
    return success();
  }
};
} // namespace
