// The task runtime: submit tasks, let dependencies and cores decide when they run.
#ifndef PTO_MLIR_TASKRUNTIME_TASKRUNTIME_H
#define PTO_MLIR_TASKRUNTIME_TASKRUNTIME_H

#include "pto_mlir/TaskRuntime/TaskCore.h"

namespace pto_mlir::tasks {

/// Kernels are registered between runs; a run is begin, submissions by one thread, finish. Threads live as long as the
/// object; runs may follow each other, also after one that failed.
class TaskRuntime {
public:
  static Result<std::unique_ptr<TaskRuntime>> create(const Config &config);
  ~TaskRuntime();

  const Config &config() const { return settings; }
  /// `costNs` is what a call takes in virtual time.
  Result<KernelId> registerKernel(std::string name, KernelBody body, uint64_t costNs = 1000);
  const std::vector<Kernel> &kernels() const { return *registered; }

  Status begin();
  /// Copies the arguments; fills the tensors that the spec allocates. The failure of a submission ends the run: later
  /// calls return it again and do nothing.
  Result<TaskId> submit(TaskSpec &spec) { return core->submit(spec); }
  Result<TaskId> submit(TaskSpec &&spec) { return core->submit(spec); }
  /// Outputs of tasks stay valid while the scope that they were submitted in is open; outside any scope, until the
  /// consumers that are submitted so far have ended. Scopes nest; the end of one waits for nothing.
  Status scopeBegin() { return core->scopeBegin(); }
  Status scopeEnd() { return core->scopeEnd(); }
  /// Waits until the host may read the tensor's memory.
  Status waitToRead(const Tensor &tensor) { return core->waitForAccess(tensor, false); }
  /// Waits until the host may overwrite it: its writers and readers have ended.
  Status waitToWrite(const Tensor &tensor) { return core->waitForAccess(tensor, true); }
  Status wait(TaskId task) { return core->wait(task); }
  /// Ends the run with an error of the caller's own.
  void fail(std::string message) { core->fatal(ErrorCode::UserFatal, std::move(message)); }
  /// Tasks that have not started will not; the run ends with an error. Any thread.
  void cancel();
  /// Waits for everything; the first thing that went wrong is the failure.
  Status finish();
  /// begin, `orchestrate`, finish. An exception of `orchestrate` ends the run and is thrown on.
  Status run(const std::function<void(TaskRuntime &)> &orchestrate);

  TaskState state(TaskId task) const { return core->state(task); }
  /// Of the present or last run.
  RunError error() const { return core->error(); }
  Statistics statistics() const { return core->statistics(); }
  const Trace &trace() const { return core->trace; }
  std::vector<HandshakeRecord> handshake() const { return driver->handshake(); }

private:
  explicit TaskRuntime(const Config &config);

  Config settings;
  std::shared_ptr<std::vector<Kernel>> registered;
  std::unique_ptr<Driver> driver;
  TaskCore *core = nullptr;
  std::function<void(Trace &)> collectTrace;
  std::function<std::vector<uint32_t>()> busyCores;
  bool running = false;
};

} // namespace pto_mlir::tasks

#endif
