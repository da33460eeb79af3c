//===- Clusters.h - which ops share a kernel --------------------*- C++ -*-===//
//
// The rules of fusion, docs/lowering.md section 4.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_CLUSTERS_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_CLUSTERS_H

#include "../Epilogue.h"
#include "OpRole.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <deque>

namespace pto_mlir::kernels {

/// Stays where it is: `Clusters::of` and the order refer to it by address.
struct Cluster {
  OpRole kind;                              ///< Cube .. Movement: the strongest role of its ops
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  llvm::SmallVector<int64_t> domain;        ///< sizes of the loops that tiles are cut from
  unsigned reducedLoops = 0;                ///< innermost ones, RowReduction only
  unsigned formed = 0;                      ///< when it last grew
  bool alive = true;                        ///< false once merged into another one
  llvm::SmallSetVector<mlir::Operation *, 4>
      views;         ///< reshapes and movements through which a product, an attention or a movement reads its operands
  Epilogue epilogue; ///< Cube: what the ops behind the contraction do
};

/// The clusters of a block and who is in which.
struct Clusters {
  std::deque<Cluster> all; ///< stable addresses
  llvm::DenseMap<mlir::Operation *, Cluster *> of;
};

/// Groups the ops of `block`. With `keepAll` no named value is fused where it
/// could not be stored. Emits an error and fails at an op that no kernel can
/// hold.
mlir::FailureOr<Clusters> formClusters(mlir::Block &block, bool keepAll);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_CLUSTERS_H
