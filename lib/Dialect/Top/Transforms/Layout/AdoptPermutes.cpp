//===- AdoptPermutes.cpp - Permutes of the model that may sink -------------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace pto_mlir::top::layout {

static bool hasPerm(PermuteOp permute, ArrayRef<int64_t> perm) {
  return permute.getPerm().size() >= 3 && permute.getPerm() == perm;
}

SmallVector<StringRef> adoptPermutes(func::FuncOp func, Order order) {
  SmallVector<StringRef> names;
  // Ops from whose result a way of ops that permutes sink through leads to a permute that cancels.
  llvm::DenseSet<Operation *> leads;
  for (Operation &op : llvm::reverse(func.front())) {
    auto permute = dyn_cast<PermuteOp>(op);
    if (permute && permute.getPerm().size() < 3)
      continue; // no images
    bool through = llvm::any_of(op.getUsers(), [&](Operation *user) { return leads.contains(user); });
    // The inverse of a permute of three dimensions is itself.
    if (permute && through && !permute->hasAttr(kOwnAttr) &&
        hasPerm(permute, order.toChannelsFirst(permute.getPerm().size()))) {
      permute->setAttr(kOwnAttr, UnitAttr::get(func.getContext()));
      // What it permutes is the same tensor channels-last, and takes its name if it has none.
      Operation *producer = permute.getInput().getDefiningOp();
      if (producer && producer->getNumResults() == 1 && getTensorName(permute.getInput()).empty())
        producer->setLoc(channelsLastLoc(permute.getLoc()));
      else
        names.push_back(getTensorName(permute.getLoc()));
    } else if (permute ? hasPerm(permute, order.toChannelsLast(permute.getPerm().size()))
                       : through && sinksThrough(&op, order)) {
      leads.insert(&op);
    }
  }
  return names;
}

} // namespace pto_mlir::top::layout
