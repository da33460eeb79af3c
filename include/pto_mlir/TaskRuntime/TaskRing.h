// A ring of task slots with the heap and the dependency pool that its tasks use.
#ifndef PTO_MLIR_TASKRUNTIME_TASKRING_H
#define PTO_MLIR_TASKRUNTIME_TASKRING_H

#include "pto_mlir/TaskRuntime/DependencyPool.h"
#include "pto_mlir/TaskRuntime/HeapRing.h"
#include "pto_mlir/TaskRuntime/Kernel.h"
#include "pto_mlir/TaskRuntime/TaskSpec.h"

#include <atomic>
#include <memory>

namespace pto_mlir::tasks {

/// When things happened to a task, in ns since the run began; kept only while a trace is taken.
struct TaskTimes {
  uint64_t submitted = 0, published = 0, ready = 0; ///< the submission took from the first to the second
};

/// The scheduling state of one task. The first two cache lines, which processors fetch together, are all that a task
/// with few arguments touches.
struct alignas(128) TaskSlot {
  /// {local id, failed, state} in one word: the state of a slot's earlier task can never be taken for that of its
  /// present one.
  std::atomic<uint64_t> word{0};
  std::atomic<uint32_t> faninLeft{0};  ///< producers that have not completed, + 1 until the slot is published
  std::atomic<uint32_t> references{0}; ///< consumers + open scope + the task itself
  std::atomic<uint32_t> fanoutHead{0}; ///< a link, or kClosed once the task has completed
  std::atomic<uint32_t> blocksLeft{0}; ///< blocks that have not ended
  std::atomic<bool> failed{false};     ///< a producer or a block failed
  bool gang = false;
  WorkerKind kind = WorkerKind::Cube;
  uint8_t depth = 0;
  uint32_t nextBlock = 0; ///< owned by whoever holds the queue entry
  // Written before the slot is published, then only read. A task without a kernel needs the first cache line alone.
  uint32_t faninHead = 0;
  uint32_t numBlocks = 1;
  KernelId kernel = kNoKernel;
  uint8_t companions = 0; ///< vector cores that each block keeps beside its own
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

/// Tasks get consecutive local ids and live in slot id & (window - 1). The watermark is the oldest task that is not
/// consumed; slots, heap bytes and pool entries of older ones are free.
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

  // The orchestrator's side.
  uint64_t next() const { return nextLocal; } ///< the id that the next task gets
  uint64_t live() {
    seenOldest = watermark();
    return nextLocal - seenOldest;
  }
  bool hasSlot() { return nextLocal - seenOldest < windowSize || live() < windowSize; }
  /// The orchestrator's note that a task is a producer of its present submission, and where it stands among them.
  /// Beside the slots, whose cache lines other threads write.
  struct Mark {
    uint64_t submission = 0;
    uint32_t index = 0;
  };
  Mark &mark(uint64_t local) { return marks[local & (windowSize - 1)]; }
  uint64_t liveAsSeen() const { return nextLocal - seenOldest; }
  void take() { ++nextLocal; }
  /// Fetches the slots that come soon: the ring is larger than the near caches.
  void prefetch() {
    const char *next = reinterpret_cast<const char *>(&slot(nextLocal + 2));
    __builtin_prefetch(next, 1);
    __builtin_prefetch(next + 64, 1);
    __builtin_prefetch(next + 128, 1);
  }
  uint64_t reuses() const { return nextLocal - firstLocal > windowSize ? nextLocal - firstLocal - windowSize : 0; }

  // Any side.
  uint64_t watermark() const { return oldest.load(std::memory_order_seq_cst); }
  /// Moves the watermark over consumed tasks. Returns whether it moved. Who finds another thread at it leaves a mark,
  /// and that thread looks again.
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
