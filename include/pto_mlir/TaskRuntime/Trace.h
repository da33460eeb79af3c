// The record of a run, for viewers, profiles and tests.
#ifndef PTO_MLIR_TASKRUNTIME_TRACE_H
#define PTO_MLIR_TASKRUNTIME_TRACE_H

#include "pto_mlir/Support/Result.h"
#include "pto_mlir/TaskRuntime/Types.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace pto_mlir::tasks {

/// One block of one task on a core; times in ns since the beginning of the run. A barrier task has core kNoCore.
struct BlockRecord {
  static constexpr uint32_t kNoCore = ~uint32_t(0);
  TaskId task;
  std::string name, kernel; ///< `name` of the task, by default the kernel's
  WorkerKind kind;
  uint32_t core, block, numBlocks;
  uint32_t scheduler; ///< that completed it; ~0 = the waiting orchestrator
  uint64_t submitted, published, ready, dispatched, start, end;
  uint64_t resolved, handled; ///< the scheduler saw the completion, and finished processing it
  bool failed, skipped;
};

/// A dependency between two tasks.
struct EdgeRecord {
  TaskId producer, consumer;
  uint32_t flags; ///< EdgeFlags
};

/// Number of ready tasks per kind at a time.
struct DepthSample {
  uint64_t time;
  std::array<uint32_t, kNumWorkerKinds> ready;
};

/// An interval in which the orchestrator was blocked.
struct BlockedRecord {
  uint64_t begin, end;
};

/// All records of a run; times in ns since its beginning.
struct Trace {
  std::array<uint32_t, kNumWorkerKinds> cores = {};
  /// Cores stand for devices of one run: the CUBE and the VECTOR core number r for device r.
  bool isOfRanks = false;
  uint32_t schedulers = 0;
  std::vector<BlockRecord> blocks;
  std::vector<EdgeRecord> edges; ///< including edges from producers that had already completed
  std::vector<DepthSample> depths;
  std::vector<BlockedRecord> blocked;
  uint64_t end = 0;

  /// Chrome trace-event JSON for Perfetto or chrome://tracing: tracks for orchestrator, schedulers and cores,
  /// dependencies as flows, queue depths as counters.
  std::string toJson() const;
  /// Writes `toJson` to a file atomically.
  Status writeJson(const std::string &path) const;

  /// Aggregates of a trace; times in ns.
  struct Summary {
    uint64_t makespan = 0, criticalPath = 0;
    std::vector<std::string> criticalTasks; ///< names along the critical path, first to last
    std::vector<uint64_t> criticalTimes;    ///< run time of each, in ns
    /// Per kind, as shares of core time: busy, and idle while a task of the kind was ready.
    std::array<double, kNumWorkerKinds> busy = {}, idleWithReady = {};
    struct Row {
      std::string kernel;
      uint64_t calls, total, longest;
    };
    std::vector<Row> kernels; ///< by descending total time
  };
  Summary summarize() const;
  /// The summary as text.
  std::string report(size_t topKernels = 10) const;
};

} // namespace pto_mlir::tasks

#endif
