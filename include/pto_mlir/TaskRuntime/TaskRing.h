// A ring of task slots with its output heap and dependency pool.
#ifndef PTO_MLIR_TASKRUNTIME_TASKRING_H
#define PTO_MLIR_TASKRUNTIME_TASKRING_H

#include "pto_mlir/TaskRuntime/DependencyPool.h"
#include "pto_mlir/TaskRuntime/HeapRing.h"
#include "pto_mlir/TaskRuntime/Kernel.h"
#include "pto_mlir/TaskRuntime/TaskSpec.h"

#include <atomic>
#include <memory>

namespace pto_mlir::tasks {

/// Time stamps of a task in ns since the beginning of the run; recorded only when tracing.
struct TaskTimes {
  uint64_t submitted = 0, published = 0, ready = 0; ///< the submission took from the first to the second
};

/// The scheduling state of one task. A task with few arguments accesses only the first two cache lines, which
/// processors prefetch as a pair.
struct alignas(128) TaskSlot {
  /// {local id, failed, state} in one word, so that the state of an earlier task of the slot is never mistaken for the
  /// current one's.
  std::atomic<uint64_t> word{0};
  std::atomic<uint32_t> faninLeft{0};  ///< producers that have not completed, + 1 until the slot is published
  std::atomic<uint32_t> references{0}; ///< consumers + open scope + the task itself
  std::atomic<uint32_t> fanoutHead{0}; ///< a link, or kClosed once the task has completed
  std::atomic<uint32_t> blocksLeft{0}; ///< blocks that have not ended
  std::atomic<bool> failed{false};     ///< a producer or a block has failed
  bool gang = false;
  WorkerKind kind = WorkerKind::Cube;
  uint8_t depth = 0;
  uint32_t nextBlock = 0; ///< owned by the scheduler that popped the queue entry
  // Immutable once the slot is published. A barrier task uses only the first cache line.
  uint32_t faninHead = 0;
  uint32_t numBlocks = 1;
  KernelId kernel = kNoKernel;
  uint8_t companions = 0; ///< additional vector cores occupied by each block
  uint8_t numArgs = 0, numInputs = 0, numOutputs = 0;
  uint64_t heapEnd = 0, poolEnd = 0;
  uint32_t faninCount = 0;
  uint64_t scope = 0;    ///< serial of the owning scope, 0 = none
  uint64_t sequence = 0; ///< order of submission over all rings
  const char *name = nullptr;
  Predicate predicate;

  uint64_t args[kMaxArguments];
  uint64_t heapBegin = 0;
  uint64_t outputOffsets[kMaxOutputs];
  TaskTimes times;

  static constexpr uint32_t kClosed = ~uint32_t(0);
  static constexpr uint64_t kFailedBit = 0x80;
  static uint64_t makeWord(uint64_t local, TaskState state, bool failed = false) {
    return local << 8 | (failed ? kFailedBit : 0) | uint64_t(state);
  }
  static uint64_t wordLocal(uint64_t word) { return word >> 8; }
  static TaskState wordState(uint64_t word) { return TaskState(word & 0x7f); }
};

/// Local ids are consecutive; task `id` is in slot id & (window - 1). The watermark is the oldest task that is not
/// consumed; slots, heap bytes and pool entries of older tasks are free.
class TaskRing {
public:
  /// `window` is a power of two. `heapSize` bytes of outputs from address `heapBase`.
  TaskRing(uint32_t window, uint64_t heapBase, uint64_t heapSize, uint32_t poolEntries, uint64_t firstTask)
      : windowSize(window), slots(new TaskSlot[window]), marks(new Mark[window]), heapRing(heapSize),
        dependencyPool(poolEntries), heapAddress(heapBase), nextLocal(firstTask), seenOldest(firstTask),
        firstLocal(firstTask), oldest(firstTask) {}

  uint32_t window() const { return windowSize; }
  TaskSlot &slot(uint64_t local) { return slots[local & (windowSize - 1)]; }
  HeapRing &heap() { return heapRing; }
  DependencyPool &pool() { return dependencyPool; }
  uint64_t heapAddressOf(uint64_t position) const { return heapAddress + heapRing.offset(position); }

  // Called by the orchestrator.
  uint64_t next() const { return nextLocal; } ///< local id of the next task
  /// Number of tasks that are not consumed; rereads the watermark.
  uint64_t live() {
    seenOldest = watermark();
    return nextLocal - seenOldest;
  }
  bool hasSlot() { return nextLocal - seenOldest < windowSize || live() < windowSize; }
  /// Marks a task as a producer of the current submission, with its index among them. Kept outside the slots, whose
  /// cache lines are written by other threads.
  struct Mark {
    uint64_t submission = 0;
    uint32_t index = 0;
  };
  Mark &mark(uint64_t local) { return marks[local & (windowSize - 1)]; }
  /// As `live`, by the cached watermark.
  uint64_t liveAsSeen() const { return nextLocal - seenOldest; }
  void take() { ++nextLocal; }
  /// Prefetches upcoming slots: the ring exceeds the inner caches.
  void prefetch() {
    const char *next = reinterpret_cast<const char *>(&slot(nextLocal + 2));
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + 64, 1);
    __builtin_prefetch(next + 128, 1);
  }
  /// Number of tasks that reused the slot of an earlier one.
  uint64_t reuses() const { return nextLocal - firstLocal > windowSize ? nextLocal - firstLocal - windowSize : 0; }

  // Thread-safe.
  uint64_t watermark() const { return oldest.load(std::memory_order_seq_cst); }
  /// Advances the watermark past consumed tasks. Returns whether it moved. When another thread is advancing it, sets
  /// `again`, and that thread repeats its scan.
  bool advance();

private:
  const uint32_t windowSize;
  std::unique_ptr<TaskSlot[]> slots;
  std::unique_ptr<Mark[]> marks;
  HeapRing heapRing;
  DependencyPool dependencyPool;
  const uint64_t heapAddress;
  uint64_t nextLocal, seenOldest;
  const uint64_t firstLocal;
  alignas(64) std::atomic<uint64_t> oldest;
  alignas(64) std::atomic<bool> advancing{false};
  std::atomic<bool> again{false};
};

} // namespace pto_mlir::tasks

#endif
