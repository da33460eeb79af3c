// The order in which the ops of a block are emitted.
#include "Splitter.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"

#include <set>

using namespace mlir;

namespace pto_mlir::control_to_vm {

// What an op reads, in its regions, too.
static void forEachRead(Operation *op, llvm::function_ref<void(Value)> visit) {
  op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), visit); });
}

// The ops of a net end at the next control flow. So all that can be computed comes before any control flow, then all
// control flow that has its operands, and so on: ninety searches of ninety columns of scores take one net then.
SmallVector<Operation *> Splitter::scheduled(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    if (!isa<top::WeightOp, arith::ConstantOp>(op))
      ops.push_back(&op);
  // Writes of states and what guards the rest have their places.
  if (!states.empty() || llvm::any_of(ops, [](Operation *op) { return isa<top::RequireOp>(op); }))
    return ops;
  DenseMap<Operation *, size_t> place;
  for (auto [i, op] : llvm::enumerate(ops))
    place[op] = i;
  SmallVector<llvm::SetVector<size_t>> users(ops.size());
  SmallVector<size_t> open(ops.size(), 0);
  for (auto [i, op] : llvm::enumerate(ops)) {
    llvm::SmallDenseSet<size_t> from;
    forEachRead(op, [&](Value value) {
      Operation *maker = value.getDefiningOp();
      if (auto found = place.find(maker); maker && found != place.end() && found->second != i)
        from.insert(found->second);
    });
    open[i] = from.size();
    for (size_t maker : from)
      users[maker].insert(i);
  }
  std::set<size_t> ready[2]; // of nets, of control flow; in the order of the block
  auto put = [&](size_t i) { ready[top::isControlFlow(ops[i])].insert(i); };
  for (size_t i = 0; i < ops.size(); ++i)
    if (open[i] == 0)
      put(i);
  SmallVector<Operation *> order;
  for (bool isControl = false; !ready[0].empty() || !ready[1].empty(); isControl = !isControl)
    while (!ready[isControl].empty()) {
      size_t i = *ready[isControl].begin();
      ready[isControl].erase(ready[isControl].begin());
      order.push_back(ops[i]);
      for (size_t user : users[i])
        if (--open[user] == 0)
          put(user);
    }
  return order;
}

} // namespace pto_mlir::control_to_vm
