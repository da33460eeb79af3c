// Runs tasks sequentially on a simulated clock.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_VIRTUALDRIVER_H
#define PTO_MLIR_LIB_TASKRUNTIME_VIRTUALDRIVER_H

#include "pto_mlir/TaskRuntime/TaskCore.h"

#include <map>
#include <memory>
#include <random>
#include <set>

namespace pto_mlir::tasks {

/// A discrete-event simulation: a kernel executes when it is dispatched, and its core is busy for `costNs`.
/// Deterministic: a function of the submissions, the configuration and the seed.
class VirtualDriver : public Driver {
public:
  VirtualDriver(const Config &config, std::shared_ptr<std::vector<Kernel>> kernels);

  TaskCore &core() { return taskCore; }
  uint64_t now() override { return time; }
  void beginRun() override;
  /// Advances the clock by the cost of a submission and completes what ends until then.
  void kick() override;
  Stall waitUntil(const std::function<bool()> &done) override;
  std::vector<HandshakeRecord> handshake() override;
  void collectTrace(Trace &trace);

private:
  struct Ready {
    uint64_t sequence; ///< order of submission
    uint64_t task;
    friend bool operator<(const Ready &a, const Ready &b) { return a.sequence < b.sequence; }
  };
  struct Running {
    uint64_t task;
    uint32_t core, block;
    uint64_t begin;
    std::vector<uint32_t> companions; ///< vector cores
  };

  /// Dispatches ready tasks at the current time. Returns whether anything changed.
  bool settle();
  bool runInline();
  void startAll(WorkerKind kind);
  void start(TaskSlot &slot, TaskId id, uint32_t block);
  std::set<Ready>::iterator pick(std::set<Ready> &ready);
  bool startable(TaskSlot &slot, TaskId id);
  void finishFirst();
  void record(const TaskSlot &slot, TaskId id, const Running *running, bool skipped);
  void sample();

  const Config config;
  std::shared_ptr<std::vector<Kernel>> kernels;
  TaskCore taskCore;
  bool vectorCoresWanted = false; ///< by a block that needs several; reserves them for it
  uint64_t time = 0;
  uint64_t numEvents = 0;
  std::array<std::set<Ready>, kNumWorkerKinds> ready;
  std::array<std::set<uint32_t>, kNumWorkerKinds> idle;
  std::map<std::pair<uint64_t, uint64_t>, Running> running; ///< keyed by end time, then start order
  std::vector<uint64_t> tasksOfCore;
  std::mt19937_64 random;
  std::vector<BlockRecord> records;
  std::vector<DepthSample> depths;
};

} // namespace pto_mlir::tasks

#endif
