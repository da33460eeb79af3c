// What a task executes.
#ifndef PTO_MLIR_TASKRUNTIME_KERNEL_H
#define PTO_MLIR_TASKRUNTIME_KERNEL_H

#include "pto_mlir/TaskRuntime/Types.h"

#include <functional>
#include <string>

namespace pto_mlir::tasks {

/// What a kernel sees of its task: a copy, never the task's slot.
struct KernelCall {
  const uint64_t *args = nullptr; ///< one word per argument: an address or a scalar
  uint32_t numArgs = 0;
  uint32_t block = 0, numBlocks = 1;
  TaskId task;
  WorkerKind kind = WorkerKind::Cube;
  uint32_t core = 0; ///< number of the core among all cores
  /// In virtual time: how long this call takes, in ns. A kernel may change it; it starts as the kernel's `costNs`.
  uint64_t costNs = 0;
};

/// Runs on the core's thread. An exception fails the task; a trap or a fatal signal is not contained.
using KernelBody = std::function<void(KernelCall &)>;

struct Kernel {
  std::string name;
  KernelBody body;
  uint64_t costNs = 1000;
};

/// Index of a registered kernel; kNoKernel = a task that only orders others.
using KernelId = uint32_t;
inline constexpr KernelId kNoKernel = ~uint32_t(0);

} // namespace pto_mlir::tasks

#endif
