// The kernels that tasks execute.
#ifndef PTO_MLIR_TASKRUNTIME_KERNEL_H
#define PTO_MLIR_TASKRUNTIME_KERNEL_H

#include "pto_mlir/TaskRuntime/Types.h"

#include <functional>
#include <string>

namespace pto_mlir::tasks {

/// The arguments of a kernel body: a copy, never a reference to the task's slot.
struct KernelCall {
  const uint64_t *args = nullptr; ///< one word per argument: an address or a scalar
  uint32_t numArgs = 0;
  uint32_t block = 0, numBlocks = 1;
  TaskId task;
  WorkerKind kind = WorkerKind::Cube;
  uint32_t core = 0; ///< index among the cores of all kinds
  /// Virtual time: the duration of this call in ns. Initialised with the kernel's `costNs`; the body may change it.
  uint64_t costNs = 0;
};

/// Runs on the core's thread. An exception fails the task; traps and fatal signals are not caught.
using KernelBody = std::function<void(KernelCall &)>;

/// A registered kernel.
struct Kernel {
  std::string name;
  KernelBody body;
  uint64_t costNs = 1000;
};

/// Index of a registered kernel; kNoKernel marks a barrier task.
using KernelId = uint32_t;
inline constexpr KernelId kNoKernel = ~uint32_t(0);

} // namespace pto_mlir::tasks

#endif
