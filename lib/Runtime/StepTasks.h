// Submits the steps of a program as tasks (lib/TaskRuntime).
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
#include <span>

namespace pto_mlir::runtime {

/// A task runtime for models of `numCore` blocks (one cube and two vector cores each) on `threads` host threads (0 =
/// all).
Result<std::unique_ptr<tasks::TaskRuntime>> makeTaskRuntime(uint32_t numCore, uint32_t threads, bool trace);

/// The same in virtual time, for a device that measures its own time.
Result<std::unique_ptr<tasks::TaskRuntime>> makeVirtualRuntime(uint32_t blocks, bool trace);

/// Assumed throughput of a host op in virtual time, in bytes per ns.
inline constexpr uint64_t kHostBytesPerNs = 4;

/// The steps of a program, prepared once and submitted in every run. Dependencies follow from the memory that steps
/// access; steps that share none may overlap.
class StepTasks {
public:
  StepTasks(tasks::TaskRuntime &runtime, Device &device) : runtime(runtime), device(device) {}
  StepTasks(const StepTasks &) = delete;

  /// Whether `bind` may give arguments of other sizes.
  enum class Sizes { Fixed, Bound };
  /// Adds a launch as a task with one block per core that has commands. In virtual time the first block simulates all
  /// cores and reports their times. A mixed kernel runs on the cube core of each block. `tensors`, the tensors it
  /// computes, names the task; empty: the kernel's name.
  Status addLaunch(const std::string &name, const std::string &tensors, const pmodel::KernelUse &use, uint32_t kernel,
                   uint32_t blocks, std::vector<pto_arg> arguments, std::vector<int64_t> scalars = {},
                   Sizes sizes = Sizes::Fixed);
  /// The body of a host op.
  using HostWork = std::function<Status(const std::vector<pto_arg> &buffers)>;
  /// Adds a host op; `work` reads all buffers but the last, which it writes.
  Status addHostOp(const std::string &name, std::vector<pto_arg> buffers, HostWork work);
  /// Of the last step: where the program launches it, for errors.
  void setPlace(std::string place) { steps.back().place = std::move(place); }
  size_t size() const { return steps.size(); }
  /// Replaces the memory of step `step` from its next submission on, and the tasks that it comes after besides those
  /// that follow from its memory.
  Status bind(size_t step, std::vector<pto_arg> arguments, std::vector<int64_t> scalars = {},
              std::span<const tasks::TaskId> after = {});
  /// The task of the step's last submission in this run.
  tasks::TaskId lastTask(size_t step) const { return steps[step].last; }
  /// Submits all steps within an open run of the runtime.
  Status submit();
  /// Must be called before the first submission of a run.
  void beginRun();
  /// The message of the first step that failed in this run; empty when none did.
  std::string failureText() const { return failure.text(); }
  /// Opens a run, submits all steps and waits. Returns the failure of the first step that failed.
  Status run();

private:
  using Arguments = std::vector<pto_arg>;
  using Scalars = std::vector<int64_t>;
  using Work = std::function<Status(tasks::KernelCall &, const Arguments &, const Scalars &)>;
  struct Step {
    Step(tasks::TaskSpec spec, uint32_t blocks, Arguments arguments, Scalars scalars,
         std::vector<pmodel::KernelUse::Argument> uses)
        : spec(std::move(spec)), blocks(blocks), arguments(std::move(arguments)), scalars(std::move(scalars)),
          uses(std::move(uses)) {}
    tasks::TaskSpec spec;
    std::string name;    ///< for traces; empty: the kernel's
    std::string place;   ///< of the launch in a program, for errors; empty: unknown
    uint32_t blocks;     ///< upper bound
    Arguments arguments; ///< of the next submission; read by tasks only beyond kMaxArguments
    Scalars scalars;     ///< likewise
    std::vector<pmodel::KernelUse::Argument> uses;
    Sizes sizes = Sizes::Fixed;        ///< Bound: tasks read the sizes behind the scalars
    uint32_t companions = 0;           ///< vector cores used with each block's cube core
    tasks::TaskId last;                ///< in this run
    std::atomic<uint64_t> workedNs{0}; ///< in the last run, summed over blocks
  };
  Status add(const std::string &name, tasks::WorkerKind kind, uint32_t blocks, Arguments arguments, Scalars scalars,
             std::vector<pmodel::KernelUse::Argument> uses, Work work, Sizes sizes = Sizes::Fixed);
  static bool isNamed(const Arguments &arguments, const Scalars &scalars, Sizes sizes) {
    return arguments.size() * (sizes == Sizes::Bound ? 2 : 1) + scalars.size() <= tasks::kMaxArguments;
  }
  /// Adds the step's memory accesses to its task.
  static void describe(Step &step);

  bool isVirtual() const { return runtime.config().mode == tasks::Mode::VirtualTime; }

  tasks::TaskRuntime &runtime;
  Device &device;
  std::deque<Step> steps;
  FirstFailure failure; // of the current run
};

} // namespace pto_mlir::runtime

#endif
