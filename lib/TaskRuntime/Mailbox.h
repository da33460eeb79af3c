// What a scheduler and one core say to each other.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_MAILBOX_H
#define PTO_MLIR_LIB_TASKRUNTIME_MAILBOX_H

#include "pto_mlir/TaskRuntime/Kernel.h"

#include <atomic>
#include <exception>

namespace pto_mlir::tasks {

/// All that a core reads of a task; a copy.
struct Payload {
  uint64_t task = 0;
  const Kernel *kernel = nullptr;
  WorkerKind kind = WorkerKind::Cube;
  uint32_t block = 0, numBlocks = 1, numArgs = 0;
  uint64_t args[kMaxArguments];
};

/// `request` counts the tasks given to the core, `reply` those that it has finished. They are equal while the core is
/// free, so an old status can never be taken for a new completion. Each side writes its own cache lines.
struct Mailbox {
  // Written by the control side.
  alignas(64) std::atomic<uint64_t> request{0};
  WorkerKind kind = WorkerKind::Cube; ///< from here to `indexInKind`: once
  uint32_t core = 0, owner = 0, thread = 0, indexInKind = 0;
  std::atomic<uint32_t> aicpuReady{0};
  std::atomic<uint32_t> control{0}; ///< 1 = leave; never taken back
  Payload payload;
  uint64_t dispatched = 0;

  // Written by the core.
  alignas(64) std::atomic<uint64_t> reply{0};
  std::atomic<uint64_t> started{0};    ///< the last request that a thread took up
  std::atomic<uint32_t> aicoreDone{0}; ///< core number + 1
  bool failed = false;
  std::string cause;
  uint64_t start = 0, end = 0;

  // Of the scheduler that owns the core.
  alignas(64) uint64_t collected = 0;

  /// A task waits for a thread that runs the core.
  bool waits() const { return request.load(std::memory_order_acquire) != started.load(std::memory_order_relaxed); }
  /// 0 = free or finished, 1 = a task is on the core.
  uint32_t taskStatus() const {
    return request.load(std::memory_order_acquire) != reply.load(std::memory_order_acquire);
  }
};

} // namespace pto_mlir::tasks

#endif
