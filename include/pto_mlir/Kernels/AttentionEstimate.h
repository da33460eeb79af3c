//===- AttentionEstimate.h - one kernel or separate ones --------*- C++ -*-===//
//
// What an attention takes in one kernel, and as products and a softmax apart, by the prices of the architecture. Pure
// arithmetic without IR. The launch is that of the whole chip, so that the choice is one of the shape alone.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_ATTENTIONESTIMATE_H
#define PTO_MLIR_KERNELS_ATTENTIONESTIMATE_H

#include "pto_mlir/Kernels/AttentionTiling.h"

namespace pto_mlir::attention {

/// Seconds with the dispatches of launches that are tasks.
struct AttentionTimes {
  double together, apart;
};

/// Of `problem`, `group` of whose heads share a head of K and V; nothing where either cannot be built for
/// `architecture`.
std::optional<AttentionTimes> estimateAttention(const AttentionProblem &problem, int64_t group,
                                                std::string_view architecture);

} // namespace pto_mlir::attention

#endif // PTO_MLIR_KERNELS_ATTENTIONESTIMATE_H
