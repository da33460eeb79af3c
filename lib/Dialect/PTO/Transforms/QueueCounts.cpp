//===- QueueCounts.cpp - tiles pushed and popped, through control flow ----------------------===//

#include "QueueLowering.h"

using namespace mlir;
using namespace pto_mlir::pto;

/// The numbers that ops inside change.
SmallVector<unsigned> QueueLowering::countsIn(Operation *op) {
  llvm::SmallSetVector<unsigned, 6> counts;
  op->walk([&](Operation *inner) {
    if (auto push = dyn_cast<TPushOp>(inner))
      counts.insert(countOf(push.getPipeHandle(), kPushed));
    else if (auto pop = dyn_cast<TPopOp>(inner))
      counts.insert(countOf(pop.getPipeHandle(), kPopped));
    else if (auto free = dyn_cast<TFreeOp>(inner))
      counts.insert(countOf(free.getPipeHandle(), kFreed));
  });
  return counts.takeVector();
}

LogicalResult QueueLowering::lowerLoop(scf::ForOp loop, Counts &counts) {
  SmallVector<unsigned> changed = countsIn(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  for (unsigned c : changed)
    inits.push_back(counts[c]);
  OpBuilder b(loop);
  auto counting =
      b.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  counting->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (Block *body = counting.getBody(); !body->empty())
    body->getTerminator()->erase();
  size_t old = loop.getNumResults();
  for (auto [from, to] :
       llvm::zip(loop.getBody()->getArguments(), counting.getBody()->getArguments().take_front(old + 1)))
    from.replaceAllUsesWith(to);
  counting.getBody()->getOperations().splice(counting.getBody()->end(), loop.getBody()->getOperations());
  counting.walk([&](TPopOp pop) { ++popsOf[{counting, queueNumber.lookup(pop.getPipeHandle())}]; });
  Counts inside = counts;
  for (auto [k, c] : llvm::enumerate(changed))
    inside[c] = counting.getRegionIterArg(old + k);
  if (failed(lowerBlock(*counting.getBody(), inside)))
    return failure();
  Operation *yield = counting.getBody()->getTerminator();
  for (auto [k, c] : llvm::enumerate(changed)) {
    yield->insertOperands(yield->getNumOperands(), inside[c]);
    counts[c] = counting.getResult(old + k);
  }
  for (auto [from, to] : llvm::zip(loop.getResults(), counting.getResults().take_front(old)))
    from.replaceAllUsesWith(to);
  loop.erase();
  return success();
}

LogicalResult QueueLowering::lowerBranch(scf::IfOp branch, Counts &counts) {
  SmallVector<unsigned> changed = countsIn(branch);
  SmallVector<Type> types(branch.getResultTypes());
  OpBuilder b(branch);
  types.append(changed.size(), b.getIndexType());
  auto counting = b.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(), /*withElse=*/true);
  for (unsigned r = 0; r < 2; ++r) {
    Region &from = branch->getRegion(r), &to = counting->getRegion(r);
    Counts inside = counts;
    if (from.empty()) {
      OpBuilder end = OpBuilder::atBlockEnd(&to.front());
      end.create<scf::YieldOp>(branch.getLoc());
    } else {
      to.takeBody(from);
      if (failed(lowerBlock(to.front(), inside)))
        return failure();
    }
    Operation *yield = to.front().getTerminator();
    for (unsigned c : changed)
      yield->insertOperands(yield->getNumOperands(), inside[c]);
  }
  size_t old = branch.getNumResults();
  for (auto [k, c] : llvm::enumerate(changed))
    counts[c] = counting.getResult(old + k);
  for (auto [from, to] : llvm::zip(branch.getResults(), counting.getResults().take_front(old)))
    from.replaceAllUsesWith(to);
  branch.erase();
  return success();
}

LogicalResult QueueLowering::lowerBlock(Block &block, Counts &counts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Value *count = nullptr;
    LogicalResult done = success();
    if (isa<TPushOp, TPopOp, TFreeOp>(op)) {
      Value queue = isa<TPushOp>(op)  ? cast<TPushOp>(op).getPipeHandle()
                    : isa<TPopOp>(op) ? cast<TPopOp>(op).getPipeHandle()
                                      : cast<TFreeOp>(op).getPipeHandle();
      Queue opened = Queue::of(queue);
      // The directions that this core produces and consumes.
      int64_t mine = isCube ? 1 : 2;
      int64_t needed = isa<TPushOp>(op) ? mine : 3 - mine;
      if (!(opened.dirMask & needed))
        return op.emitOpError("goes against the queue's direction: dir_mask is ")
               << opened.dirMask << " and this is the " << (isCube ? "cube" : "vector") << " core";
      count = &counts[countOf(queue, isa<TPushOp>(op) ? kPushed : isa<TPopOp>(op) ? kPopped : kFreed)];
      Value now = *count;
      OpBuilder b(&op);
      Indices i(b, op.getLoc());
      *count = i.of<arith::AddIOp>(now, 1);
      done = isa<TPushOp>(op)  ? push(cast<TPushOp>(op), now)
             : isa<TPopOp>(op) ? pop(cast<TPopOp>(op), now)
                               : release(cast<TFreeOp>(op), now);
    } else if (op.getNumRegions() != 0 && !countsIn(&op).empty()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        done = lowerLoop(loop, counts);
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        done = lowerBranch(branch, counts);
      else
        return op.emitOpError("holds queue ops, which may stand in scf.for and scf.if");
    }
    if (failed(done))
      return failure();
  }
  return success();
}
