// The steps of a program as tasks, for lib/TaskRuntime.
#ifndef PTO_MLIR_LIB_RUNTIME_STEPTASKS_H
#define PTO_MLIR_LIB_RUNTIME_STEPTASKS_H

#include "pto_mlir/PModel/KernelUse.h"
#include "pto_mlir/Runtime/Device.h"
#include "pto_mlir/Runtime/FirstFailure.h"
#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>

namespace pto_mlir::runtime {

/// A task runtime for models of `numCore` blocks (one cube and two vector cores each) on `threads` host threads (0 =
/// all).
Result<std::unique_ptr<tasks::TaskRuntime>> makeTaskRuntime(uint32_t numCore, uint32_t threads, bool trace);

/// One in virtual time, for a device that measures its own: `blocks` as above.
Result<std::unique_ptr<tasks::TaskRuntime>> makeVirtualRuntime(uint32_t blocks, bool trace);

/// A host op is taken to move this many bytes per ns.
inline constexpr uint64_t kHostBytesPerNs = 4;

/// What a program's steps do, prepared once and submitted in every run. The memory that steps touch orders them; steps
/// that touch none in common may overlap.
class StepTasks {
public:
  StepTasks(tasks::TaskRuntime &runtime, Device &device) : runtime(runtime), device(device) {}
  StepTasks(const StepTasks &) = delete;

  /// A task of one block per core that has commands; in virtual time the first block runs them all and says how long
  /// each takes. Blocks of kernels for both kinds of cores run on the cube core of each block. `tensors` are what it
  /// computes, the task's name; empty: the kernel's name.
  Status addLaunch(const std::string &name, const std::string &tensors, const pmodel::KernelUse &use, uint32_t kernel,
                   uint32_t blocks, std::vector<pto_arg> arguments);
  /// What a host op does to its buffers.
  using HostWork = std::function<Status(const std::vector<pto_arg> &buffers)>;
  /// `work` reads all buffers but the last, which it writes.
  Status addHostOp(const std::string &name, std::vector<pto_arg> buffers, HostWork work);
  size_t size() const { return steps.size(); }
  /// Other memory for step `step` from its next submission on, of the same sizes.
  Status bind(size_t step, std::vector<pto_arg> arguments);
  /// Submits all, within a run of the runtime.
  Status submit();
  /// Before the first submission of a run of the runtime.
  void beginRun();
  /// What the first step that failed in this run said; empty when none did.
  std::string failureText() const { return failure.text(); }
  /// A run of its own: submits all and waits. The first step that failed is the failure.
  Status run();

private:
  using Arguments = std::vector<pto_arg>;
  using Work = std::function<Status(tasks::KernelCall &, const Arguments &)>;
  struct Step {
    Step(tasks::TaskSpec spec, uint32_t blocks, Arguments arguments, std::vector<pmodel::KernelUse::Argument> uses)
        : spec(std::move(spec)), blocks(blocks), arguments(std::move(arguments)), uses(std::move(uses)) {}
    tasks::TaskSpec spec;
    std::string name;    ///< for traces; empty: the kernel's
    uint32_t blocks;     ///< at most
    Arguments arguments; ///< of the next submission; tasks read it only when they are too many for a task
    std::vector<pmodel::KernelUse::Argument> uses;
    uint32_t companions = 0;           ///< vector cores beside each block's cube core
    tasks::TaskId last;                ///< in this run
    std::atomic<uint64_t> workedNs{0}; ///< in its last run, over all blocks
  };
  Status add(const std::string &name, tasks::WorkerKind kind, uint32_t blocks, Arguments arguments,
             std::vector<pmodel::KernelUse::Argument> uses, Work work);
  static bool isNamed(const Arguments &arguments) { return arguments.size() <= tasks::kMaxArguments; }
  /// Tells the step's task which memory it touches.
  static void describe(Step &step);

  bool isVirtual() const { return runtime.config().mode == tasks::Mode::VirtualTime; }

  tasks::TaskRuntime &runtime;
  Device &device;
  std::deque<Step> steps;
  FirstFailure failure; // of the present run
};

} // namespace pto_mlir::runtime

#endif
