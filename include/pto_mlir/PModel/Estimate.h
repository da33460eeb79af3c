// What a kernel takes, from its command streams alone: nothing is run.
#ifndef PTO_MLIR_PMODEL_ESTIMATE_H
#define PTO_MLIR_PMODEL_ESTIMATE_H

#include "pto_mlir/Cost/Cost.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

namespace pto_mlir::pmodel {

/// Cycles of one launch of the kernel, without what every launch costs: its engines as the timing mode plays them, with
/// the rates of the instruction table. What only values in memory say is not known: loops, jumps and sizes that depend
/// on them are walked as if they were 0, and what gathers read does not count as missing L2. Fails when a kernel is too
/// long to be walked through.
Result<double> estimateCycles(const KernelDesc &kernel, const isa::ChipInfo &chip);

} // namespace pto_mlir::pmodel

#endif
