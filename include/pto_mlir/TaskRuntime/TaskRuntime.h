// The task runtime: executes submitted tasks out of order, as dependencies and free cores allow.
#ifndef PTO_MLIR_TASKRUNTIME_TASKRUNTIME_H
#define PTO_MLIR_TASKRUNTIME_TASKRUNTIME_H

#include "pto_mlir/TaskRuntime/TaskCore.h"

namespace pto_mlir::tasks {

/// Kernels are registered between runs. A run is begin, submissions by one thread, finish. Threads are kept for the
/// lifetime of the object. A new run may begin after a failed one.
class TaskRuntime {
public:
  /// Creates a runtime and starts its threads; fails on an invalid configuration.
  static Result<std::unique_ptr<TaskRuntime>> create(const Config &config);
  ~TaskRuntime();

  const Config &config() const { return settings; }
  /// Registers a kernel. `costNs`: duration of a call in virtual time.
  Result<KernelId> registerKernel(std::string name, KernelBody body, uint64_t costNs = 1000);
  const std::vector<Kernel> &kernels() const { return *registered; }

  /// Begins a run; fails while a kernel of an earlier run has not returned.
  Status begin();
  /// Submits a task: copies the arguments and allocates the outputs of the spec. A failed submission ends the run:
  /// later calls have no effect and return the same failure.
  Result<TaskId> submit(TaskSpec &spec) { return core->submit(spec); }
  Result<TaskId> submit(TaskSpec &&spec) { return core->submit(spec); }
  /// Outputs of tasks remain valid while the scope of their submission is open; outside any scope, until the consumers
  /// submitted so far have completed. Scopes nest. scopeEnd does not wait.
  Status scopeBegin() { return core->scopeBegin(); }
  Status scopeEnd() { return core->scopeEnd(); }
  /// Waits until the host may read the tensor's memory.
  Status waitToRead(const Tensor &tensor) { return core->waitForAccess(tensor, false); }
  /// Waits until the host may overwrite the tensor's memory: its writers and readers have completed.
  Status waitToWrite(const Tensor &tensor) { return core->waitForAccess(tensor, true); }
  Status wait(TaskId task) { return core->wait(task); }
  /// Fails the run with an error of the caller.
  void fail(std::string message) { core->fatal(ErrorCode::UserFatal, std::move(message)); }
  /// Cancels all tasks that have not started; the run fails. Thread-safe.
  void cancel();
  /// Waits for all tasks. Returns the first error of the run.
  Status finish();
  /// begin, `orchestrate`, finish. An exception thrown by `orchestrate` fails the run and is rethrown.
  Status run(const std::function<void(TaskRuntime &)> &orchestrate);

  TaskState state(TaskId task) const { return core->state(task); }
  /// Of the current or last run.
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
