//===- ClusterOrder.cpp - a topological order of growing clusters ---------===//

#include "ClusterOrder.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace pto_mlir::kernels {

ClusterOrder::Node ClusterOrder::nodeOf(Operation *op) const {
  if (Cluster *cluster = clusters.of.lookup(op))
    return cluster;
  return op;
}

/// Ops that have not been added may stand anywhere: they count as last, so that searches pass through them.
uint64_t ClusterOrder::placeOf(Node node) const {
  auto found = places.find(node.getOpaqueValue());
  return found == places.end() ? UINT64_MAX : found->second;
}

void ClusterOrder::forEachRead(Node self, ArrayRef<Operation *> members, Visit visit) const {
  for (Operation *member : members)
    for (Value operand : valuesRead(member))
      if (Operation *producer = operand.getDefiningOp())
        if (Node node = nodeOf(producer); node != self)
          visit(node);
}

void ClusterOrder::forEachReader(Node self, ArrayRef<Operation *> members, Visit visit) const {
  for (Operation *member : members)
    for (Operation *user : member->getUsers())
      if (Operation *reader = block.findAncestorOpInBlock(*user))
        if (Node node = nodeOf(reader); node != self && places.contains(node.getOpaqueValue()))
          visit(node);
}

void ClusterOrder::forEachRead(Node node, Visit visit) const {
  if (auto *cluster = dyn_cast<Cluster *>(node))
    forEachRead(node, cluster->ops, visit);
  else
    forEachRead(node, cast<Operation *>(node), visit);
}

void ClusterOrder::forEachReader(Node node, Visit visit) const {
  if (auto *cluster = dyn_cast<Cluster *>(node))
    forEachReader(node, cluster->ops, visit);
  else
    forEachReader(node, cast<Operation *>(node), visit);
}

void ClusterOrder::add(Operation *op) {
  Node node = nodeOf(op);
  bool reads = isa<Cluster *>(node);
  forEachRead(node, [&](Node) { reads = true; });
  places[node.getOpaqueValue()] = reads ? next++ : 0;
  // What it reads was added before; some of its readers may have been, in a cluster that was absorbed ahead of the
  // order.
  forEachReader(node, [&](Node reader) { insertEdge(node, reader); });
}

void ClusterOrder::grow(Cluster *into, ArrayRef<Operation *> ops) {
  Node node(into);
  forEachRead(node, ops, [&](Node read) { insertEdge(read, node); });
  forEachReader(node, ops, [&](Node reader) { insertEdge(node, reader); });
}

/// Reorders the nodes between `after` and `before` that depend on the first or precede the second, so that `before`
/// comes first.
void ClusterOrder::insertEdge(Node before, Node after) {
  uint64_t first = placeOf(after), last = placeOf(before);
  if (last < first || last == UINT64_MAX)
    return;
  llvm::SmallPtrSet<void *, 8> seen;
  auto reachable = [&](Node start, auto neighbours) {
    SmallVector<Node> found{start};
    seen.insert(start.getOpaqueValue());
    for (size_t i = 0; i < found.size(); ++i)
      neighbours(found[i], [&](Node node) {
        uint64_t place = placeOf(node);
        if (place >= first && place <= last && seen.insert(node.getOpaqueValue()).second)
          found.push_back(node);
      });
    llvm::sort(found, [&](Node a, Node b) { return placeOf(a) < placeOf(b); });
    return found;
  };
  SmallVector<Node> moved = reachable(before, [&](Node node, Visit visit) { forEachRead(node, visit); });
  llvm::append_range(moved, reachable(after, [&](Node node, Visit visit) { forEachReader(node, visit); }));
  SmallVector<uint64_t> free = llvm::map_to_vector(moved, [&](Node node) { return placeOf(node); });
  llvm::sort(free);
  for (auto [node, place] : llvm::zip_equal(moved, free))
    places[node.getOpaqueValue()] = place;
}

bool ClusterOrder::wouldCycle(ArrayRef<Cluster *> parts, Operation *op) const {
  // Nodes ordered before all parts depend on none of them.
  uint64_t first = UINT64_MAX;
  for (Cluster *part : parts)
    first = std::min(first, placeOf(part));
  llvm::SmallPtrSet<void *, 16> seen;
  SmallVector<Node> worklist;
  bool cycle = false;
  auto push = [&](Node node) {
    if (placeOf(node) > first && seen.insert(node.getOpaqueValue()).second)
      worklist.push_back(node);
  };
  auto isPart = [&](Node node) {
    auto *cluster = dyn_cast<Cluster *>(node);
    return cluster && llvm::is_contained(parts, cluster);
  };
  auto pushOutside = [&](Node node) {
    if (!isPart(node))
      push(node);
  };
  forEachRead(op, op, pushOutside);
  for (Cluster *part : parts)
    if (placeOf(part) > first)
      forEachRead(part, pushOutside);
  while (!worklist.empty() && !cycle)
    forEachRead(worklist.pop_back_val(), [&](Node node) {
      cycle |= isPart(node);
      push(node);
    });
  return cycle;
}

} // namespace pto_mlir::kernels
