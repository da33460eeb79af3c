// Configuration and statistics of a task runtime.
#ifndef PTO_MLIR_TASKRUNTIME_CONFIG_H
#define PTO_MLIR_TASKRUNTIME_CONFIG_H

#include "pto_mlir/Support/Result.h"
#include "pto_mlir/TaskRuntime/Types.h"

#include <array>

namespace pto_mlir::tasks {

/// How tasks are executed.
enum class Mode {
  Threads,     ///< schedulers and cores are threads
  VirtualTime, ///< one thread and simulated time; deterministic
};

/// Which ready task is dispatched first in virtual time.
enum class Pick { Oldest, Newest, Random };

/// Sizes, threads and limits of a task runtime; `check` validates them.
struct Config {
  /// Simulated cores per worker kind; submitting a task of a kind without cores fails.
  std::array<uint32_t, kNumWorkerKinds> cores = {1, 2, 1, 0};
  /// Task slots per ring, powers of two: at most this many tasks of a ring are alive.
  std::array<uint32_t, kNumRings> window = {16384, 16384, 16384, 16384};
  /// Bytes of task outputs per ring; multiples of kOutputAlignment.
  std::array<uint64_t, kNumRings> heapBytes = {64u << 20, 64u << 20, 64u << 20, 64u << 20};
  /// Addresses of the rings' heaps, for example in device memory; 0 = host memory that the runtime allocates.
  std::array<uint64_t, kNumRings> heapBase = {};
  /// Fan-in and fan-out list entries per ring.
  uint32_t dependencyEntries = 1u << 17;
  /// Tensor map entries (regions) per ring.
  uint32_t tensorMapEntries = 1u << 16;
  uint32_t maxScopeDepth = 64;

  /// Scheduler threads; 0 = three, or one on a machine of at most two processors.
  uint32_t schedulers = 0;
  /// Worker threads, each of which may run several cores; 0 = one per core, but at most the number of processors.
  /// Kernels whose blocks wait for each other need one thread per core.
  uint32_t workerThreads = 0;
  /// The submitting thread acts as scheduler and worker while it waits: no scheduler threads, and one worker thread
  /// less. For few large tasks on few processors, where the hand-over to another thread costs more than it gains. A
  /// kernel that hangs on the submitting thread is not reported.
  bool submitterWorks = false;
  /// An idle thread polls `spins` times, then yields `yields` times, then sleeps.
  uint32_t spins = 64, yields = 64;

  Mode mode = Mode::Threads;
  Pick pick = Pick::Oldest;
  uint64_t seed = 0;         ///< of Pick::Random
  uint64_t submitCostNs = 0; ///< virtual time that the orchestrator spends per task

  /// A deadlock is reported when for this long no task was running or ready while some were waiting.
  uint32_t stallMs = 300;
  /// A hung kernel is reported when for this long a task was running and none completed; 0 = never.
  uint32_t hangMs = 60000;
  /// Record runs for traces and profiles.
  bool trace = false;
  /// Local id of the first task of each ring.
  uint64_t firstTask = 1;

  /// Checks the values; a failure names the field.
  Status check() const;
};

/// Counters of one run.
struct Statistics {
  uint64_t submitted = 0, completed = 0, failed = 0, skipped = 0;
  uint64_t edges = 0;
  uint64_t slotReuses = 0;
  uint64_t blockedNs = 0; ///< back-pressure: the orchestrator waited for a slot, heap bytes or entries
  uint64_t blockedTimes = 0;
  std::array<uint64_t, kNumRings> peakTasks = {}, peakHeapBytes = {}, peakEntries = {};
};

} // namespace pto_mlir::tasks

#endif
