// How a task runtime is set up, and what it counts.
#ifndef PTO_MLIR_TASKRUNTIME_CONFIG_H
#define PTO_MLIR_TASKRUNTIME_CONFIG_H

#include "pto_mlir/Support/Result.h"
#include "pto_mlir/TaskRuntime/Types.h"

#include <array>

namespace pto_mlir::tasks {

enum class Mode {
  Threads,     ///< schedulers and cores are threads
  VirtualTime, ///< one thread, simulated time, the same order in every run
};

/// Which ready task a core gets first in virtual time.
enum class Pick { Oldest, Newest, Random };

struct Config {
  /// Simulated cores per worker kind; tasks of a kind without cores are refused.
  std::array<uint32_t, kNumWorkerKinds> cores = {1, 2, 1, 0};
  /// Task slots per ring, powers of two: at most this many tasks of a ring are alive.
  std::array<uint32_t, kNumRings> window = {16384, 16384, 16384, 16384};
  /// Output bytes per ring, multiples of kOutputAlignment.
  std::array<uint64_t, kNumRings> heapBytes = {64u << 20, 64u << 20, 64u << 20, 64u << 20};
  /// Addresses of the rings' heaps, for example in device memory; 0 = host memory that the runtime allocates.
  std::array<uint64_t, kNumRings> heapBase = {};
  /// Fan-in and fan-out list entries per ring.
  uint32_t dependencyEntries = 1u << 17;
  /// Regions per ring that the tensor map remembers.
  uint32_t tensorMapEntries = 1u << 16;
  uint32_t maxScopeDepth = 64;

  /// Scheduler threads; 0 = three, or one on a machine of at most two processors.
  uint32_t schedulers = 0;
  /// Threads that run the cores, each several; 0 = one per core, but no more than the machine has processors. Kernels
  /// whose blocks wait for each other need as many as there are cores.
  uint32_t workerThreads = 0;
  /// The submitting thread is the scheduler, and a worker, while it waits: no scheduler threads, one worker thread
  /// less. For few large tasks on few processors, where handing a task to another thread costs more than it gains. A
  /// kernel that hangs on it is not reported.
  bool submitterWorks = false;
  /// How often an idle thread looks again before it yields, and how often it yields before it sleeps.
  uint32_t spins = 64, yields = 64;

  Mode mode = Mode::Threads;
  Pick pick = Pick::Oldest;
  uint64_t seed = 0;         ///< of Pick::Random
  uint64_t submitCostNs = 0; ///< virtual time that the orchestrator spends per task

  /// Nothing runs, nothing is ready, and something waits: a deadlock after this long.
  uint32_t stallMs = 300;
  /// No task ends while one runs: a hung kernel after this long; 0 = never.
  uint32_t hangMs = 60000;
  /// Keep what a trace and a profile need.
  bool trace = false;
  /// Number of the first task of each ring.
  uint64_t firstTask = 1;

  /// What is wrong with the numbers, by the name of the field.
  Status check() const;
};

/// Counters of one run.
struct Statistics {
  uint64_t submitted = 0, completed = 0, failed = 0, skipped = 0;
  uint64_t edges = 0;
  uint64_t slotReuses = 0;
  uint64_t blockedNs = 0; ///< the orchestrator waited for a slot, bytes or entries
  uint64_t blockedTimes = 0;
  std::array<uint64_t, kNumRings> peakTasks = {}, peakHeapBytes = {}, peakEntries = {};
};

} // namespace pto_mlir::tasks

#endif
