// Executes the verified bytecode of one net variant.
#ifndef PTO_MLIR_LIB_RUNTIME_VM_H
#define PTO_MLIR_LIB_RUNTIME_VM_H

#include "RankLaunches.h"
#include "StepTasks.h"
#include "TaskGraph.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/Runtime/Device.h"

#include <optional>
#include <span>
#include <vector>

namespace pto_mlir::runtime {

/// Whether inputs and outputs are in buffers of the program or in memory bound before every run (`bind`).
enum class Ports { Own, Bound };

/// A program with its buffers. A net's program has no branches, so buffer sizes are static: buffers are allocated once,
/// and a run is a sequence of launches.
class VM {
public:
  /// Device handles of the model's kernels, by index into ModelDesc::kernels.
  using KernelHandles = std::vector<uint32_t>;

  /// `variant` must have passed verifyVariant. `weights` is the uploaded weights section, shared with other programs.
  static Result<VM> prepare(Device &device, const pmodel::ModelDesc &model, const pmodel::VariantDesc &variant,
                            const KernelHandles &kernels, const DeviceBuffer &weights, Ports ports = Ports::Own);

  /// Makes runs submit their steps to `runtime` as tasks; steps that share no memory may overlap. The VM must not be
  /// moved afterwards.
  Status useTasks(tasks::TaskRuntime &runtime, const pmodel::ModelDesc &model);
  /// Sets the memory of the inputs, then the outputs, from the next run on. Requires Ports::Bound.
  Status bind(const std::vector<pto_arg> &ports);
  /// Sets the values of the variant's symbols from the next run on; before the first run they are the greatest.
  Status setSymbols(std::span<const int64_t> symbols);
  const std::vector<int64_t> &symbols() const { return symbolValues; }
  /// Sets the memory of the group of state from the next run on; `swapped` says for each tensor whether its value is in
  /// the second place. Required before a run of a variant with state.
  Status bindState(uint64_t address, const std::vector<bool> &swapped);
  /// Whether a run writes the place of a tensor that does not have its value.
  bool writesSecondPlace(size_t tensor) const { return secondWritten[tensor]; }
  /// Whether a run overwrites a tensor's value with another one, so that a run that fails loses it.
  bool replacesInPlace() const { return replaces; }
  /// Runs the program to its end and waits.
  Status run();
  /// Queues the program: as tasks of an open run, or as device launches.
  Status submit();
  /// Whether several devices run it: then at once, in `run` only.
  bool hasRanks() const { return ranked.has_value(); }
  /// Whether windows keep what they hold from the last run, which did not fail, to the next one.
  void keepWindows(bool keeps) { windowsKept = keeps; }
  /// What is told of each launch of later runs on several devices; null: nothing.
  void watchLaunches(LaunchWatch seen) { watch = std::move(seen); }
  /// What ran on which device when, in the last run; null without ranks, and where the device does not measure it.
  const tasks::Trace *rankTrace() const { return ranked ? ranked->trace() : nullptr; }
  /// Null without tasks.
  StepTasks *stepTasks() { return tasks.get(); }

  const pto_arg &input(size_t i) const { return slots[i]; }
  const pto_arg &output(size_t i) const { return slots[numInputs + i]; }
  /// The first allocation; null when the program has none.
  const DeviceBuffer *workspace() const { return allocations.empty() ? nullptr : &allocations.front(); }
  /// Device address of a debug tensor, valid after a run; 0 in an empty workspace.
  uint64_t address(const pmodel::DebugTensorDesc &tensor) const;

private:
  /// A launch, a host op (which takes whole slots) or a wait.
  struct Step {
    enum Kind { Launch, Host, Wait } kind = Wait;
    uint32_t kernel = 0, blocks = 0; // number on the device
    uint32_t modelKernel = 0;
    uint32_t rank = 0;   // the device, of several
    std::string tensors; // computed by a launch
    size_t launch = 0;   // its number in code order
    std::vector<pmodel::VMArgument> places;
    std::vector<bytecode::Size> sizes; // of the scalars of a launch
    std::vector<int64_t> scalars;
    int64_t hostOp = 0;
    std::vector<int64_t> parameters;
    size_t task = 0;      // index among the tasks
    bool isBound = false; // reads or writes inputs or outputs
    bool usesState = false;
  };

  explicit VM(Device &device) : device(&device) {}
  std::vector<pto_arg> arguments(const Step &step) const;
  /// Finds out which tensors of the state the steps write, and how.
  void inspectState(const pmodel::ModelDesc &model);
  /// Where the bytes at `offset` of the state are, tensors being swapped.
  uint64_t stateAddress(uint64_t offset) const;
  void addRanks(const pmodel::ModelDesc &model);
  Status runRanks();
  /// Launches a step; with what it may overlap, and to its end, where the device looks for races.
  Status launch(const Step &step);
  Status runHostOp(const Step &step, const std::vector<pto_arg> &buffers) const;

  Device *device;
  size_t numInputs = 0, numPorts = 0;
  std::vector<int64_t> symbolValues;
  std::vector<pto_arg> slots;
  const pmodel::StateGroupDesc *group = nullptr; // of the state; null without
  size_t stateSlot = 0;
  std::vector<bool> swapped, secondWritten; // per tensor of the state
  bool replaces = false;
  std::optional<RankLaunches> ranked; // all steps, of a program of several devices
  LaunchWatch watch;
  bool windowsKept = false, windowsHold = false; // hold: what a run has left
  uint64_t windows = 0;                          // bytes at the beginning of the workspace
  std::vector<DeviceBuffer> own, allocations;
  std::vector<Step> steps;
  std::shared_ptr<const TaskGraph> graph;
  std::unique_ptr<StepTasks> tasks; // null: steps run in order
};

} // namespace pto_mlir::runtime

#endif
