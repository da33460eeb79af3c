#include "Slots.h"

#include "mlir/Analysis/Liveness.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"

using namespace mlir;

namespace pto_mlir::vm {

bool Slots::isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>();
}

Slots numberSlots(Region &body) {
  Slots slots;
  auto add = [&](Value value) {
    slots.of[value] = slots.types.size();
    slots.types.push_back(value.getType());
  };
  for (Block &block : body) {
    for (BlockArgument argument : block.getArguments())
      add(argument);
    for (Operation &op : block)
      for (Value result : op.getResults())
        add(result);
  }
  return slots;
}

namespace {

/// The live range of a value, from the step that writes it to the last step that reads it. A step reads before it
/// writes, so ranges that touch do not overlap.
struct Interval {
  Value value;
  unsigned begin, end;
  size_t number;
};

} // namespace

Slots allocateSlots(Region &body) {
  Liveness liveness(body.getParentOp());
  // Number the steps: every op, and the entry of every block.
  DenseMap<Operation *, unsigned> step;
  DenseMap<Block *, unsigned> entrance;
  // The blocks at whose entry and end each value is live: few, though the versions of a model have a block each.
  DenseMap<Value, SmallVector<Block *, 2>> blocksIn, blocksOut;
  unsigned count = 0;
  for (Block &block : body) {
    entrance[&block] = count++;
    for (Operation &op : block)
      step[&op] = count++;
    const LivenessBlockInfo *info = liveness.getLiveness(&block);
    for (Value value : info->in())
      blocksIn[value].push_back(&block);
    for (Value value : info->out())
      blocksOut[value].push_back(&block);
  }
  SmallVector<Interval> intervals;
  auto add = [&](Value value, unsigned begin) {
    Interval interval{value, begin, begin + 1, intervals.size()}; // an unused result is written all the same
    for (Operation *user : value.getUsers())
      interval.end = std::max(interval.end, step.lookup(body.findAncestorOpInRegion(*user)));
    for (Block *block : blocksIn.lookup(value)) {
      interval.begin = std::min(interval.begin, entrance[block]);
      interval.end = std::max(interval.end, entrance[block] + 1);
    }
    for (Block *block : blocksOut.lookup(value))
      interval.end = std::max(interval.end, step[&block->back()] + 1);
    intervals.push_back(interval);
  };
  for (Block &block : body) {
    for (BlockArgument argument : block.getArguments()) {
      add(argument, entrance[&block]);
      // A branch writes the argument, so its range starts at the terminator.
      for (Block *before : block.getPredecessors()) {
        intervals.back().begin = std::min(intervals.back().begin, step[before->getTerminator()]);
        intervals.back().end = std::max(intervals.back().end, step[before->getTerminator()] + 1);
      }
    }
    for (Operation &op : block)
      for (Value result : op.getResults())
        if (!Slots::isConstant(result))
          add(result, step[&op]);
  }
  // Ties are broken by program order.
  llvm::sort(intervals, [](const Interval &a, const Interval &b) {
    return std::tie(a.begin, a.number) < std::tie(b.begin, b.number);
  });

  Slots slots;
  SmallVector<unsigned> freeFrom; // first step at which a slot may be overwritten
  for (const Interval &interval : intervals) {
    auto argument = dyn_cast<BlockArgument>(interval.value);
    bool isParameter = argument && argument.getOwner() == &body.front();
    unsigned slot = isParameter ? slots.types.size() : 0;
    while (slot < slots.types.size() &&
           (slots.types[slot] != interval.value.getType() || freeFrom[slot] > interval.begin))
      ++slot;
    if (slot == slots.types.size()) {
      slots.types.push_back(interval.value.getType());
      freeFrom.push_back(0);
    }
    slots.of[interval.value] = slot;
    freeFrom[slot] = interval.end;
  }
  return slots;
}

} // namespace pto_mlir::vm
