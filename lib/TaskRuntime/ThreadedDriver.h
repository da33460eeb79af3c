// Schedulers and simulated cores as threads.
#ifndef PTO_MLIR_LIB_TASKRUNTIME_THREADEDDRIVER_H
#define PTO_MLIR_LIB_TASKRUNTIME_THREADEDDRIVER_H

#include "Mailbox.h"
#include "Parker.h"
#include "pto_mlir/TaskRuntime/TaskCore.h"

#include <deque>
#include <memory>
#include <thread>

namespace pto_mlir::tasks {

/// Shared by all threads, which keep it alive: a kernel that never returns must not find it gone.
struct ThreadedState {
  struct alignas(64) IdleWord {
    std::atomic<uint64_t> bits{0};
  };
  static constexpr unsigned kWords = kMaxCoresPerKind / 64;
  using Mask = std::array<uint64_t, kWords>;
  struct Kind {
    std::array<IdleWord, kWords> idle;
    std::vector<uint32_t> cores; ///< index within the kind -> core
    // A gang gathers free cores until it has all of them; one gang of a kind at a time, so two never wait for each
    // other.
    std::mutex gangLock;
    uint64_t gang = 0;
    std::vector<uint32_t> gathered;
    std::atomic<bool> gangWaits{false};
    std::atomic<bool> normalOwed{false}; ///< after a gang it is the others' turn
  };
  struct Scheduler {
    std::vector<uint32_t> cores;
    std::array<Mask, kNumWorkerKinds> own{};
    Parker parker;
    std::atomic<uint64_t> beats{0}; ///< rounds of the loop, a sign of life
    std::vector<BlockRecord> records;
    std::vector<DepthSample> depths;
    uint64_t lastSample = 0;
    uint64_t handled = 0;       ///< of the last record, which the orchestrator may have collected by then
    bool onlySubmitter = false; ///< may have work for it: none of its cores is at work and nothing became ready
  };
  static constexpr int kRest =
      32; ///< pauses of the processor, about a microsecond, between looks at the submitter's work
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
  Scheduler helper; ///< of the orchestrator: while it waits it completes tasks that need no core
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
  /// What the orchestrator does while it waits; false when there was nothing.
  bool help();
  /// Where the orchestrator sleeps: with `submitterWorks` where cores wake their scheduler.
  Parker &sleepsOn() { return config.submitterWorks ? schedulers.front().parker : orchestrator; }
  /// Nothing is left for `help`.
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
  /// The task of the last record is dealt with: noted, and written into the record by the next one. With the task the
  /// run may have ended, and the records with it.
  void recordHandled(Scheduler &self);
  void sample(Scheduler &self);
  bool execute(Mailbox &mailbox);
  bool executeAny();
  bool anythingToDo(const Scheduler &self) const;
};

class ThreadedDriver : public Driver {
public:
  ThreadedDriver(const Config &config, std::shared_ptr<std::vector<Kernel>> kernels);
  /// Waits for the threads; one that a hung kernel holds is left behind.
  ~ThreadedDriver() override;

  TaskCore &core() { return state->core; }
  uint64_t now() override { return state->now(); }
  void beginRun() override;
  void kick() override { state->kick(); }
  Stall waitUntil(const std::function<bool()> &done) override;
  std::vector<HandshakeRecord> handshake() override;
  /// Moves what the schedulers recorded into the trace.
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
