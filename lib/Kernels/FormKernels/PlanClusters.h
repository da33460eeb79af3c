//===- PlanClusters.h - clusters that kernels can be built of ---*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_FORMKERNELS_PLANCLUSTERS_H
#define PTO_MLIR_LIB_KERNELS_FORMKERNELS_PLANCLUSTERS_H

#include "Clusters.h"
#include "pto_mlir/Kernels/KernelTrial.h"

namespace pto_mlir::kernels {

/// Splits each cluster whose kernel `plans.trial` refuses where the fewest bytes cross, until each part can be built.
/// Reports every op that no kernel can hold with the limit that it hits, then fails.
mlir::LogicalResult planClusters(Clusters &clusters, bool keepAll, const KernelPlans &plans);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_FORMKERNELS_PLANCLUSTERS_H
