// The driver that runs schedulers and simulated cores as threads.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_THREADEDDRIVER_H
#define PTO_MLIR_LIB_TASKRUNTIME_THREADEDDRIVER_H

#include "Mailbox.h"
#include "Parker.h"
#include "pto_mlir/TaskRuntime/TaskCore.h"

#include <deque>
#include <memory>
#include <thread>

namespace pto_mlir::tasks {

/// Shared ownership by all threads: the state must outlive a kernel that never returns.
struct ThreadedState {
  struct alignas(64) IdleWord {
    std::atomic<uint64_t> bits{0};
  };
  static constexpr unsigned kWords = kMaxCoresPerKind / 64;
  using Mask = std::array<uint64_t, kWords>;
  struct Kind {
    std::array<IdleWord, kWords> idle;
    std::vector<uint32_t> cores; ///< index within the kind -> core
    // A gang collects free cores until it has all of them; one gang per kind at a time, to avoid deadlock.
    std::mutex gangLock;
    uint64_t gang = 0;
    std::vector<uint32_t> gathered;
    std::atomic<bool> gangWaits{false};
    std::atomic<bool> normalOwed{false}; ///< after a gang, other tasks are served first
  };
  struct Scheduler {
    std::vector<uint32_t> cores;
    std::array<Mask, kNumWorkerKinds> own{};
    Parker parker;
    std::atomic<uint64_t> beats{0}; ///< iterations of the loop, for stall detection
    std::vector<BlockRecord> records;
    std::vector<DepthSample> depths;
    uint64_t lastSample = 0;
    uint64_t handled = 0;       ///< time of the last record, which may have been collected before it was known
    bool onlySubmitter = false; ///< only the submitter can bring work: no busy cores, nothing ready
  };
  static constexpr int kRest = 32; ///< pause instructions (about a microsecond) between polls for the submitter's tasks
  struct Worker {
    std::vector<uint32_t> cores;
    Parker parker;
  };

  ThreadedState(const Config &config, std::shared_ptr<std::vector<Kernel>> kernels)
      : config(config), kernels(std::move(kernels)), core(this->config, *this->kernels) {}

  const Config config;
  std::shared_ptr<std::vector<Kernel>> kernels;
  TaskCore core;
  std::deque<Mailbox> mailboxes;
  std::array<Kind, kNumWorkerKinds> kinds;
  std::deque<Scheduler> schedulers;
  std::deque<Worker> workers;
  Parker orchestrator;
  Scheduler helper; ///< used by the waiting orchestrator to complete tasks that need no core
  std::atomic<bool> handshakeDone{false}, stop{false};
  std::atomic<uint64_t> runBegin{0};

  uint64_t now() const;
  void wakeSchedulers();
  void kick();
  /// The one-time handshake with every core.
  void shakeHands();
  void runScheduler(unsigned index);
  void runWorker(unsigned index);
  std::vector<uint32_t> busyCores() const;
  /// Work done by the orchestrator while it waits; false when there was none.
  bool help();
  /// The parker of the orchestrator; with `submitterWorks` its scheduler's, which cores notify.
  Parker &sleepsOn() { return config.submitterWorks ? schedulers.front().parker : orchestrator; }
  /// No work for `help`.
  bool idle() const { return !config.submitterWorks || !anythingToDo(schedulers.front()); }

private:
  static constexpr unsigned kOrchestrator = ~0u;
  bool schedule(Scheduler &self, unsigned index);
  bool collect(Scheduler &self, unsigned index);
  bool runInline(Scheduler &self, unsigned index);
  bool dispatch(Scheduler &self, unsigned index, Kind &kind, WorkerKind kindName);
  bool dispatchGang(Scheduler &self, unsigned index, Kind &kind, WorkerKind kindName);
  bool startable(Scheduler &self, TaskSlot &slot, TaskId id, unsigned index);
  int claim(Kind &kind, const Mask *own);
  void send(Mailbox &mailbox, const TaskSlot &slot, TaskId id, uint32_t block);
  void finish(Scheduler &self, TaskSlot &slot, TaskId id, unsigned index, bool skipped);
  void record(Scheduler &self, const Mailbox *mailbox, const TaskSlot &slot, TaskId id, unsigned index, bool skipped);
  /// Notes the time at which the last record's task was processed; stored by the next record, because the run may end
  /// with the task and its records be collected.
  void recordHandled(Scheduler &self);
  void sample(Scheduler &self);
  bool execute(Mailbox &mailbox);
  bool executeAny();
  bool anythingToDo(const Scheduler &self) const;
};

class ThreadedDriver : public Driver {
public:
  ThreadedDriver(const Config &config, std::shared_ptr<std::vector<Kernel>> kernels);
  /// Joins the threads; detaches one that is blocked in a hung kernel.
  ~ThreadedDriver() override;

  TaskCore &core() { return state->core; }
  uint64_t now() override { return state->now(); }
  void beginRun() override;
  void kick() override { state->kick(); }
  Stall waitUntil(const std::function<bool()> &done) override;
  std::vector<HandshakeRecord> handshake() override;
  /// Moves the schedulers' records into the trace.
  void collectTrace(Trace &trace);
  /// Cores whose task has not returned.
  std::vector<uint32_t> busyCores() const { return state->busyCores(); }

private:
  uint64_t progress() const;
  std::string describeBusy() const;

  std::shared_ptr<ThreadedState> state;
  std::vector<std::thread> threads; ///< workers from `firstWorker` on, then schedulers
  size_t firstWorker = 0;
};

} // namespace pto_mlir::tasks

#endif
