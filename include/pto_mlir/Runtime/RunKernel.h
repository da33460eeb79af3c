// Runs one kernel of a .pmodel on its own, for development.
#ifndef PTO_MLIR_RUNTIME_RUNKERNEL_H
#define PTO_MLIR_RUNTIME_RUNKERNEL_H

#include "pto_mlir/Runtime/Device.h"
#include "pto_mlir/Runtime/Npy.h"

#include <string>
#include <vector>

namespace pto_mlir::runtime {

struct KernelRun {
  std::string model;  // path of the .pmodel
  std::string kernel; // its name
  /// Buffers of the kernel's arguments, in order. All go to the device before the launch and come back after it.
  std::vector<NpyArray> arguments;
  /// The kernel's arguments that are no buffers, in order: integers, or the bits of an f32.
  std::vector<int64_t> scalars;
  /// 0: as many as the file says.
  uint32_t blocks = 0;
  DeviceOptions device;
};

/// Launches once and waits; `run.arguments` then hold what the kernel left.
Result<pto_profile> runKernel(KernelRun &run);

} // namespace pto_mlir::runtime

#endif
