#ifndef PTO_MLIR_LIB_PMODEL_MERGEKERNELS_H
#define PTO_MLIR_LIB_PMODEL_MERGEKERNELS_H

#include "pto_mlir/PModel/Model.h"

namespace pto_mlir::pmodel {

/// Deduplicated kernels: `stored` lists indices into the model's kernels, `index[k]` is the position of kernel k (or
/// its equal) in `stored`, `sourceOps[s]` joins the source ops of all kernels stored as `stored[s]`.
struct KernelMerge {
  std::vector<uint32_t> stored;
  std::vector<uint32_t> index;
  std::vector<std::vector<std::string>> sourceOps;
};

/// Merges kernels with equal commands, arguments and blocks.
KernelMerge mergeKernels(const ModelDesc &model);

} // namespace pto_mlir::pmodel

#endif
