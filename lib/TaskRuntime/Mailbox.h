// Shared memory between a scheduler and one core.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_MAILBOX_H
#define PTO_MLIR_LIB_TASKRUNTIME_MAILBOX_H

#include "pto_mlir/TaskRuntime/Kernel.h"

#include <atomic>
#include <exception>

namespace pto_mlir::tasks {

/// A copy of the task data that a core reads.
struct Payload {
  uint64_t task = 0;
  const Kernel *kernel = nullptr;
  WorkerKind kind = WorkerKind::Cube;
  uint32_t block = 0, numBlocks = 1, numArgs = 0;
  uint64_t args[kMaxArguments];
};

/// `request` counts the tasks dispatched to the core, `reply` those it has finished. They are equal while the core is
/// free, so a stale status is never mistaken for a new completion. Each side writes only its own cache lines.
struct Mailbox {
  // Written by the scheduler.
  alignas(64) std::atomic<uint64_t> request{0};
  WorkerKind kind = WorkerKind::Cube; ///< from here to `indexInKind`: written once
  uint32_t core = 0, owner = 0, thread = 0, indexInKind = 0;
  std::atomic<uint32_t> aicpuReady{0};
  std::atomic<uint32_t> control{0}; ///< 1 = exit; never reset
  Payload payload;
  uint64_t dispatched = 0;

  // Written by the core.
  alignas(64) std::atomic<uint64_t> reply{0};
  std::atomic<uint64_t> started{0};    ///< the last request claimed by a thread; only grows
  std::atomic<uint32_t> aicoreDone{0}; ///< core number + 1
  bool failed = false;
  std::string cause;
  uint64_t start = 0, end = 0;

  // Private to the scheduler that owns the core.
  alignas(64) uint64_t collected = 0;

  /// A dispatched task has not been claimed by a thread.
  bool waits() const { return request.load(std::memory_order_acquire) != started.load(std::memory_order_relaxed); }
  /// Takes the dispatched task for the calling thread and returns its request; 0 if there is none or another thread was
  /// first. `started` is read before `request`: the other way round a thread that is held up between the two could
  /// compare an old request with a later start, and run that later task a second time.
  uint64_t claim() {
    uint64_t last = started.load(std::memory_order_acquire), wanted = request.load(std::memory_order_acquire);
    return wanted != last && started.compare_exchange_strong(last, wanted, std::memory_order_acq_rel) ? wanted : 0;
  }
  /// 0 = free or finished, 1 = a task is on the core.
  uint32_t taskStatus() const {
    return request.load(std::memory_order_acquire) != reply.load(std::memory_order_acquire);
  }
};

} // namespace pto_mlir::tasks

#endif
