// What a kernel does with its arguments and with the cores, read off its commands.
#ifndef PTO_MLIR_PMODEL_KERNELUSE_H
#define PTO_MLIR_PMODEL_KERNELUSE_H

#include "pto_mlir/PModel/Model.h"

#include <vector>

namespace pto_mlir::pmodel {

struct KernelUse {
  struct Argument {
    bool read = false, written = false;
  };
  std::vector<Argument> arguments;
  bool cube = false, vector = false; ///< kinds of cores that have commands
  /// Cores add to the same memory, so they run one after the other for the same sums in every run.
  bool ordered = false;

  uint32_t coresPerBlock() const { return uint32_t(cube) + 2 * uint32_t(vector); }
};

/// `kernel` has verified.
KernelUse kernelUse(const KernelDesc &kernel);

} // namespace pto_mlir::pmodel

#endif
