//===- ClusterOrder.h - a topological order of growing clusters -*- C++ -*-===//
//
// Keeps a topological order of the clusters of a block while ops are placed and clusters merge, so that the search for
// a cycle sees the part of the graph between the merged clusters alone (Pearce and Kelly, "A dynamic topological sort
// algorithm for directed acyclic graphs", 2006).
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_CLUSTERORDER_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_CLUSTERORDER_H

#include "Clusters.h"

#include "llvm/ADT/PointerUnion.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pto_mlir::kernels {

class ClusterOrder {
public:
  /// `clusters` says which cluster an op is in; an op in none is a node of its own.
  ClusterOrder(mlir::Block &block, const Clusters &clusters) : block(block), clusters(clusters) {}

  /// Places the node of `op` after all that it reads and before what reads it.
  void add(mlir::Operation *op);

  /// Would a cluster of `parts` and `op`, which has not been added, need a value that depends on itself?
  bool wouldCycle(llvm::ArrayRef<Cluster *> parts, mlir::Operation *op) const;

  /// `ops` have just become members of `into`, which keeps its place unless one of them needs a later one.
  void grow(Cluster *into, llvm::ArrayRef<mlir::Operation *> ops);

private:
  using Node = llvm::PointerUnion<Cluster *, mlir::Operation *>;
  using Visit = llvm::function_ref<void(Node)>;

  Node nodeOf(mlir::Operation *op) const;
  uint64_t placeOf(Node node) const;
  void forEachRead(Node self, llvm::ArrayRef<mlir::Operation *> members, Visit visit) const;
  void forEachReader(Node self, llvm::ArrayRef<mlir::Operation *> members, Visit visit) const;
  void forEachRead(Node node, Visit visit) const;
  void forEachReader(Node node, Visit visit) const;
  void insertEdges(Node node, llvm::ArrayRef<mlir::Operation *> members);
  void insertEdge(Node before, Node after);

  mlir::Block &block;
  const Clusters &clusters;
  llvm::DenseMap<void *, uint64_t> places;
  uint64_t next = 1; // 0: reads nothing
};

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_CLUSTERORDER_H
