#ifndef PTO_MLIR_LIB_PMODEL_MERGEKERNELS_H
#define PTO_MLIR_LIB_PMODEL_MERGEKERNELS_H

#include "pto_mlir/PModel/Model.h"

namespace pto_mlir::pmodel {

/// Which kernels are stored: `stored` lists indices into the model's kernels, `index[k]` is the place of kernel k (or
/// of its equal) in `stored`, `sourceOps[s]` joins the source ops of all kernels that share place s.
struct KernelMerge {
  std::vector<uint32_t> stored;
  std::vector<uint32_t> index;
  std::vector<std::vector<std::string>> sourceOps;
};

/// Finds kernels that run the same commands with the same arguments and blocks.
KernelMerge mergeKernels(const std::vector<KernelDesc> &kernels);

} // namespace pto_mlir::pmodel

#endif
