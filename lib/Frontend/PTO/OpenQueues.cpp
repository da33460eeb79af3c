//===- OpenQueues.cpp - queues of front ends as values ----------------------------------------===//

#include "OpenQueues.h"

#include <map>

using namespace mlir;
using namespace pto_mlir::pto;

/// The queues opened by a front end's op, as a value; their flags begin with `flagBase`.
template <typename Init> static Value openQueue(Init init, int32_t flagBase) {
  OpBuilder b(init);
  bool both = init.getDirMask() == 3;
  // The consumer's buffer of the single direction; with both directions the cube core's is second.
  Value first = init.getDirMask() == 2 ? init.getV2cConsumerBuf() : init.getC2vConsumerBuf();
  Value second = both ? init.getV2cConsumerBuf() : Value();
  int32_t slots = both ? 4 : 8;
  if (auto said = init->template getAttrOfType<IntegerAttr>(kSlotNumAttr))
    slots = static_cast<int32_t>(said.getInt());
  int32_t localSlots = slots;
  if (auto said = init->template getAttrOfType<IntegerAttr>(kLocalSlotNumAttr))
    localSlots = static_cast<int32_t>(said.getInt());
  auto nosplit = init.getNosplit() ? b.getBoolAttr(*init.getNosplit()) : BoolAttr();
  auto type = PipeHandleType::get(b.getContext());
  if (!init.getGmSlotBuffer())
    return b
        .create<InitializeL2LPipeOp>(init.getLoc(), type, b.getI8IntegerAttr(init.getDirMask()), init.getSlotSizeAttr(),
                                     b.getI32IntegerAttr(slots), b.getI32IntegerAttr(flagBase), nosplit, first, second)
        .getPipe();
  return b
      .create<InitializeL2G2LPipeOp>(init.getLoc(), type, b.getI8IntegerAttr(init.getDirMask()), init.getSlotSizeAttr(),
                                     b.getI32IntegerAttr(slots), b.getI32IntegerAttr(localSlots),
                                     b.getI32IntegerAttr(flagBase), nosplit, init.getGmSlotBuffer(), first, second)
      .getPipe();
}

template <typename Pop> static void replacePop(Pop pop, Value queue) {
  OpBuilder b(pop);
  auto tile = b.create<DeclareTileOp>(pop.getLoc(), pop.getTile().getType());
  b.create<TPopOp>(pop.getLoc(), tile.getResult(), queue, pop.getSplitAttr());
  if (pop.getValidRow())
    b.create<SetValidShapeOp>(pop.getLoc(), tile.getResult(), pop.getValidRow(), pop.getValidCol());
  pop.getTile().replaceAllUsesWith(tile.getResult());
  pop.erase();
}

LogicalResult pto_mlir::pto::openQueues(func::FuncOp func) {
  std::map<int64_t, std::pair<Value, Operation *>> queues;
  func.walk([&](Operation *op) {
    if (isa<AicInitializePipeOp, AivInitializePipeOp>(op))
      queues[queueId(op)].second = op;
  });
  // Both sides open the same queues: in the order of their ids they have the same flags.
  int32_t flags = 0;
  for (auto &[id, opened] : queues) {
    if (auto init = dyn_cast<AicInitializePipeOp>(opened.second))
      opened.first = openQueue(init, flags);
    else
      opened.first = openQueue(cast<AivInitializePipeOp>(opened.second), flags);
    flags += static_cast<int32_t>(Queue::of(opened.first).numFlags());
  }
  SmallVector<Operation *> users;
  func.walk([&](Operation *op) {
    if (isa<TPushToAivOp, TPushToAicOp, TPopFromAicOp, TPopFromAivOp, TFreeFromAicOp, TFreeFromAivOp>(op))
      users.push_back(op);
  });
  for (Operation *op : users) {
    auto [queue, front] = queues[queueId(op)];
    if (!queue || front->getBlock()->findAncestorOpInBlock(*op) == nullptr ||
        !front->isBeforeInBlock(front->getBlock()->findAncestorOpInBlock(*op)))
      return op->emitOpError("stands where no queue is open; the function needs an initialize_pipe op before it");
    OpBuilder b(op);
    auto split = op->getAttrOfType<IntegerAttr>("split");
    if (isa<TPushToAivOp, TPushToAicOp>(op))
      b.create<TPushOp>(op->getLoc(), op->getOperand(0), queue, split);
    else if (isa<TFreeFromAicOp, TFreeFromAivOp>(op))
      b.create<TFreeOp>(op->getLoc(), queue, split);
    else if (auto pop = dyn_cast<TPopFromAicOp>(op)) {
      replacePop(pop, queue);
      continue;
    } else {
      replacePop(cast<TPopFromAivOp>(op), queue);
      continue;
    }
    op->erase();
  }
  for (auto &[id, opened] : queues)
    if (opened.second)
      opened.second->erase();
  return success();
}

LogicalResult pto_mlir::pto::numberFlags(MutableArrayRef<Queue> queues) {
  std::map<std::string, int64_t> bases;
  int64_t next = 0;
  for (const Queue &queue : queues)
    if (queue.flagBase)
      next = std::max<int64_t>(next, *queue.flagBase + queue.numFlags());
  for (Queue &queue : queues) {
    if (!queue.flagBase) {
      auto [base, isNew] = bases.insert({bufferOf(queue.local), next});
      next += isNew ? queue.numFlags() : 0;
      queue.flagBase = base->second;
      queue.op->setAttr("flag_base", OpBuilder(queue.op).getI32IntegerAttr(base->second));
    }
    if (int64_t flags = targetOf(queue.op).crossFlags; *queue.flagBase + queue.numFlags() > flags)
      return queue.op->emitOpError("needs cross-core flags up to ")
             << *queue.flagBase + queue.numFlags() - 1 << ", there are 0 to " << flags - 1;
  }
  return success();
}
