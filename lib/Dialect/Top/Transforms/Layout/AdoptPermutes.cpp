//===- AdoptPermutes.cpp - Permutes of the model that may sink -------------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace pto_mlir::top::layout {

// Whether `permute` is that of the pass, or one that orders the spatial dimensions as well (windows of an image), which
// is one permute more that keeps channels where they are.
static bool movesChannelsFirst(PermuteOp permute, Order order) {
  ArrayRef<int64_t> perm = permute.getPerm();
  if (order.columnsOuter)
    return perm == ArrayRef(order.toChannelsFirst(perm.size()));
  return perm[0] == 0 && perm[1] == static_cast<int64_t>(perm.size()) - 1;
}

static bool movesChannelsLast(PermuteOp permute, Order order) {
  ArrayRef<int64_t> perm = permute.getPerm();
  if (order.columnsOuter)
    return perm == ArrayRef(order.toChannelsLast(perm.size()));
  return perm[0] == 0 && perm.back() == 1;
}

// Leaves of a permute the one that the pass may sink, behind one of the spatial dimensions if they change places.
static void splitSpatial(PermuteOp permute, Order order) {
  ArrayRef<int64_t> perm = permute.getPerm();
  if (perm == ArrayRef(order.toChannelsFirst(perm.size())))
    return;
  SmallVector<int64_t> spatial = applyPermutation(perm, order.toChannelsLast(perm.size()));
  OpBuilder builder(permute);
  auto inner = builder.create<PermuteOp>(channelsLastLoc(permute.getLoc()), permute.getInput(), spatial);
  permute.getInputMutable().assign(inner);
  permute.setPerm(order.toChannelsFirst(perm.size()));
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
    if (permute && through && !permute->hasAttr(kOwnAttr) && movesChannelsFirst(permute, order)) {
      permute->setAttr(kOwnAttr, UnitAttr::get(func.getContext()));
      splitSpatial(permute, order);
      // What it permutes is the same tensor channels-last, and takes its name if it has none.
      Operation *producer = permute.getInput().getDefiningOp();
      if (producer && producer->getNumResults() == 1 && getTensorName(permute.getInput()).empty())
        producer->setLoc(channelsLastLoc(permute.getLoc()));
      else
        names.push_back(getTensorName(permute.getLoc()));
    } else if (permute ? movesChannelsLast(permute, order) : through && sinksThrough(&op, order)) {
      leads.insert(&op);
    }
  }
  return names;
}

} // namespace pto_mlir::top::layout
