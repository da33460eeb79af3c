// How a kernel uses its arguments and the cores, derived from its commands.
#ifndef PTO_MLIR_PMODEL_KERNELUSE_H
#define PTO_MLIR_PMODEL_KERNELUSE_H

#include "pto_mlir/PModel/Model.h"

#include <vector>

namespace pto_mlir::pmodel {

/// The arguments and cores used by a kernel.
struct KernelUse {
  struct Argument {
    bool read = false, written = false;
  };
  std::vector<Argument> arguments;
  bool cube = false, vector = false; ///< kinds of cores that have commands
  /// Cores accumulate into the same memory (atomic add), so they run sequentially to make float sums deterministic.
  bool ordered = false;
  uint32_t scalars = 0; ///< that its commands read: the greatest number + 1

  uint32_t coresPerBlock() const { return uint32_t(cube) + 2 * uint32_t(vector); }
};

/// Analyses a verified kernel.
KernelUse kernelUse(const KernelDesc &kernel);

} // namespace pto_mlir::pmodel

#endif
