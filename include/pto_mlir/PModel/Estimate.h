// Static cycle estimates from command streams.
#ifndef PTO_MLIR_PMODEL_ESTIMATE_H
#define PTO_MLIR_PMODEL_ESTIMATE_H

#include "pto_mlir/Cost/Cost.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Cycles of one launch of the kernel without the launch overhead, by the engine model of the timing mode and the rates
/// of the instruction table. Values in memory are unknown: loops, jumps and sizes that depend on them are evaluated
/// with 0, and reads of gathers are assumed to hit L2. Fails when the kernel executes too many commands to be
/// simulated.
Result<double> estimateCycles(const KernelDesc &kernel, const isa::ChipInfo &chip,
                              const std::vector<int64_t> &scalars = {});

} // namespace pto_mlir::pmodel

#endif
