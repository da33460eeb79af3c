// The state of all tasks and its transitions. Starts no threads; drivers call it from theirs.
#ifndef PTO_MLIR_TASKRUNTIME_TASKCORE_H
#define PTO_MLIR_TASKRUNTIME_TASKCORE_H

#include "pto_mlir/TaskRuntime/Driver.h"
#include "pto_mlir/TaskRuntime/ReadyQueue.h"
#include "pto_mlir/TaskRuntime/TaskRing.h"
#include "pto_mlir/TaskRuntime/TensorMap.h"
#include "pto_mlir/TaskRuntime/Trace.h"

#include <mutex>
#include <set>

namespace pto_mlir::tasks {

/// Why a run failed.
struct RunError {
  ErrorCode code = ErrorCode::None;
  std::string message;
  TaskId task;
};

/// One thread, the orchestrator, submits tasks and opens scopes; any thread may complete tasks.
class TaskCore {
public:
  /// `config` has been checked; `kernels` must outlive the core and may change only between runs.
  TaskCore(const Config &config, const std::vector<Kernel> &kernels);
  ~TaskCore();
  void setDriver(Driver *driver) { this->driver = driver; }

  // Called by the orchestrator. After a fatal error of the run each of these has no effect and returns that error.
  /// Submits a task: finds its producers, reserves room (waiting if necessary), publishes it.
  Result<TaskId> submit(TaskSpec &spec);
  Status scopeBegin();
  Status scopeEnd();
  /// Waits until the host may read (with `write`: overwrite) the tensor.
  Status waitForAccess(const Tensor &tensor, bool write);
  Status wait(TaskId task);
  /// Fails the run; only the first error is kept.
  void fatal(ErrorCode code, std::string message, TaskId task = {});

  /// Called instead of `beginRun` while the cancelled previous run has not drained: the new run fails with `message`.
  void refuse(std::string message);
  void beginRun();
  /// Closes all open scopes and waits until every task is consumed.
  void finishRun();
  RunError error() const;
  Statistics statistics() const;
  /// Makes every task that has not started complete as failed.
  void cancel() { cancelled.store(true, std::memory_order_release); }
  bool isCancelled() const { return cancelled.load(std::memory_order_acquire); }
  bool drained() const;
  uint32_t scopeDepth() const { return uint32_t(scopes.size()); }

  // Thread-safe.
  TaskState state(TaskId task) const;
  uint64_t completed() const { return numCompleted.load(std::memory_order_acquire); }
  TaskSlot &slotOf(TaskId task) { return rings[task.ring()]->slot(task.local()); }
  TaskRing *ring(unsigned index) { return rings[index].get(); }
  const Kernel *kernelOf(const TaskSlot &slot) const {
    return slot.kernel == kNoKernel ? nullptr : &kernels[slot.kernel];
  }
  const char *nameOf(const TaskSlot &slot) const;
  const char *kernelNameOf(const TaskSlot &slot) const {
    return kernelOf(slot) ? kernelOf(slot)->name.c_str() : "barrier";
  }
  /// Text for messages: "17 ('first product', kernel 'matmul')"; the kernel only when the task has its own name.
  std::string describe(const TaskSlot &slot, TaskId id) const;

  // Called by schedulers.
  ReadyQueue &ready(WorkerKind kind) { return *readyQueues[unsigned(kind)]; }
  ReadyQueue &readyGangs(WorkerKind kind) { return *gangQueues[unsigned(kind)]; }
  /// Tasks that need no core: barriers, and tasks with a failed producer.
  ReadyQueue &readyInline() { return *inlineQueue; }
  size_t numReady() const;
  void setRunning(TaskSlot &slot, TaskId id) {
    slot.word.store(TaskSlot::makeWord(id.local(), TaskState::Running), std::memory_order_release);
  }
  /// Evaluates the task's predicate.
  static bool predicateHolds(const TaskSlot &slot);
  /// Called when the last block has ended. Makes consumers ready, releases the references to producers and, last, to
  /// the task itself; afterwards the slot may be reused. Returns what changed.
  struct Effect {
    uint32_t madeReady = 0;
    bool reclaimed = false;
  };
  Effect complete(TaskSlot &slot, TaskId id, bool skipped = false);
  /// Records the failure of a task with its `cause`.
  void reportFailure(TaskSlot &slot, TaskId id, uint32_t core, const std::string &cause);

  /// Whether the run is traced.
  bool tracing = false;
  Trace trace; ///< the orchestrator's records
  uint64_t now() { return driver ? driver->now() : 0; }

private:
  struct Candidate {
    TaskId task;
    uint32_t flags;
    bool claimed;
  };
  struct Scope {
    uint64_t serial;
    size_t firstTask;
  };

  /// The ring, created on first use.
  TaskRing &prepareRing(unsigned index);
  Status checkSpec(const TaskSpec &spec);
  Status gatherProducers(TaskSpec &spec);
  Status addArgument(const TaskSpec::Argument &argument);
  /// Records a producer of the current submission. Their slots, last written by schedulers, are prefetched and read
  /// together.
  void find(TaskId task, uint32_t flags) {
    __builtin_prefetch(&slotOf(task));
    found.push_back({task, flags, false});
  }
  void addCandidate(TaskId task, uint32_t flags);
  /// Waits for a slot, `bytes` of heap, dependency entries and `mapEntries` tensor map entries.
  Status reserve(TaskRing &ring, unsigned ringIndex, uint64_t bytes, uint32_t mapEntries);
  Status blocked(TaskRing &ring, ErrorCode code, uint64_t bytes, uint32_t edges);
  void fillSlot(TaskRing &ring, TaskSlot &slot, TaskId id, TaskSpec &spec);
  /// Adds the task to the fan-out lists of its pending producers and makes it ready if there are none.
  void wire(TaskRing &ring, unsigned ringIndex, TaskSlot &slot, TaskId id);
  void releaseClaims();

  uint32_t edgesNeeded() const;
  DependencyEntry &entryAt(uint32_t link) { return rings[link >> 30]->pool()[link & ((1u << 30) - 1)]; }
  /// Takes a reference to a task, unless it is consumed.
  bool tryClaim(TaskSlot &slot);
  /// Adds an entry to a producer's fan-out list; false when it has completed.
  bool appendConsumer(TaskSlot &producer, uint32_t link, DependencyEntry &entry);
  void makeReady(TaskSlot &slot, TaskId id);
  /// Returns whether this was the last reference and the task is consumed; the caller then advances the watermark.
  bool dropReference(TaskSlot &slot, TaskId id);
  bool release(TaskSlot &slot, TaskId id);
  void closeScope();
  /// The ring of tasks submitted in the current scope.
  unsigned ringOfScope() const { return std::min<unsigned>(unsigned(scopes.size()), kNumRings - 1); }
  bool hasFailed(TaskId task);
  Status currentError() const;
  uint64_t heapBase(unsigned index);
  void rememberPoison(TaskId task, const Region &region, TensorMap::Access access);

  const Config &config;
  const std::vector<Kernel> &kernels;
  Driver *driver = nullptr;
  std::array<std::unique_ptr<TaskRing>, kNumRings> rings;
  std::array<void *, kNumRings> hostHeaps = {};
  std::array<std::unique_ptr<ReadyQueue>, kNumWorkerKinds> readyQueues, gangQueues;
  std::unique_ptr<ReadyQueue> inlineQueue;

  // Orchestrator only.
  TensorMap map;
  std::vector<Candidate> found, candidates;
  TensorMap::Covered covered;            ///< by the writes of the current submission
  std::vector<Candidate> endedProducers; ///< of the current submission, for the trace
  bool poisonedAtSubmit = false;
  uint64_t submission = 0;
  std::vector<Scope> scopes;
  std::vector<TaskId> scopeTasks;
  uint64_t scopeSerial = 0;
  Statistics counts;
  uint64_t completedBefore = 0, skippedBefore = 0, failedBefore = 0;
  std::vector<Region> poisonedRegions; ///< written by failed tasks whose entries have left the map

  alignas(64) std::atomic<uint64_t> numCompleted{0};
  std::atomic<uint64_t> numSkipped{0}, numFailed{0};
  alignas(64) std::atomic<bool> stopped{false}; ///< after a fatal error of this run
  std::atomic<bool> cancelled{false}, anyFailed{false};
  mutable std::mutex errorMutex; ///< guards the three below
  RunError firstError;
  uint64_t numErrors = 0;
  std::set<uint64_t> failedTasks;
};

} // namespace pto_mlir::tasks

#endif
