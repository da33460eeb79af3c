// What happened in a run: for viewers, profiles and tests.
#ifndef PTO_MLIR_TASKRUNTIME_TRACE_H
#define PTO_MLIR_TASKRUNTIME_TRACE_H

#include "pto_mlir/Support/Result.h"
#include "pto_mlir/TaskRuntime/Types.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace pto_mlir::tasks {

/// One block of one task on a core; times in ns since the run began. A task without a kernel has core kNoCore.
struct BlockRecord {
  static constexpr uint32_t kNoCore = ~uint32_t(0);
  TaskId task;
  std::string name, kernel; ///< of the task, which is the kernel's unless it has one of its own
  WorkerKind kind;
  uint32_t core, block, numBlocks;
  uint32_t scheduler; ///< that resolved it, ~0 = the orchestrator while it waited
  uint64_t submitted, published, ready, dispatched, start, end;
  uint64_t resolved, handled; ///< the scheduler saw the end, and had told everybody whom it concerns
  bool failed, skipped;
};

struct EdgeRecord {
  TaskId producer, consumer;
  uint32_t flags; ///< EdgeFlags
};

/// How many tasks of each kind wait for a core.
struct DepthSample {
  uint64_t time;
  std::array<uint32_t, kNumWorkerKinds> ready;
};

/// The orchestrator waited from begin to end.
struct BlockedRecord {
  uint64_t begin, end;
};

struct Trace {
  std::array<uint32_t, kNumWorkerKinds> cores = {};
  uint32_t schedulers = 0;
  std::vector<BlockRecord> blocks;
  std::vector<EdgeRecord> edges; ///< also to producers that had already ended
  std::vector<DepthSample> depths;
  std::vector<BlockedRecord> blocked;
  uint64_t end = 0;

  /// For Perfetto or chrome://tracing: tracks for orchestrator, schedulers and cores, dependencies as flows, queue
  /// depths as counters.
  std::string toJson() const;
  /// Writes `toJson` to a file, which appears whole or not at all.
  Status writeJson(const std::string &path) const;

  struct Summary {
    uint64_t makespan = 0, criticalPath = 0;
    std::vector<std::string> criticalTasks; ///< names along it, first to last
    std::vector<uint64_t> criticalTimes;    ///< and how long each ran
    /// Share of core time in which a core of the kind idled while a task of the kind was ready.
    std::array<double, kNumWorkerKinds> busy = {}, idleWithReady = {};
    struct Row {
      std::string kernel;
      uint64_t calls, total, longest;
    };
    std::vector<Row> kernels; ///< most time first
  };
  Summary summarize() const;
  /// The summary for a terminal.
  std::string report(size_t topKernels = 10) const;
};

} // namespace pto_mlir::tasks

#endif
