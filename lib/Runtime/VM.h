// Executes the verified bytecode of one net variant.
#ifndef PTO_MLIR_LIB_RUNTIME_VM_H
#define PTO_MLIR_LIB_RUNTIME_VM_H

#include "StepTasks.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/Runtime/Device.h"

#include <vector>

namespace pto_mlir::runtime {

/// Memory for inputs and outputs: the program's own, or what `bind` gives it before every run.
enum class Ports { Own, Bound };

/// A program with its buffers. Format 1 has no branches, so every buffer has one size for good: buffers are allocated
/// once, and running is a walk over launches.
class VM {
public:
  /// Device handles of the model's kernels, by index into ModelDesc::kernels.
  using KernelHandles = std::vector<uint32_t>;

  /// `variant` passed verifyVariant. `weights` is the uploaded weights section, shared with other programs.
  static Result<VM> prepare(Device &device, const pmodel::ModelDesc &model, const pmodel::VariantDesc &variant,
                            const KernelHandles &kernels, const DeviceBuffer &weights, Ports ports = Ports::Own);

  /// Runs go through `runtime` from now on, as tasks: steps that share no memory may overlap. The VM stays where it is.
  Status useTasks(tasks::TaskRuntime &runtime, const pmodel::ModelDesc &model);
  /// Memory for the inputs, then the outputs, from the next run on.
  Status bind(const std::vector<pto_arg> &ports);
  /// Runs the program to its end and waits.
  Status run();
  /// Queues the program: as tasks of a run that is open, or as launches of the device.
  Status submit();
  /// Null without tasks.
  StepTasks *stepTasks() { return tasks.get(); }

  const pto_arg &input(size_t i) const { return slots[i]; }
  const pto_arg &output(size_t i) const { return slots[numInputs + i]; }
  /// The first allocation; null when the program makes none.
  const DeviceBuffer *workspace() const { return allocations.empty() ? nullptr : &allocations.front(); }
  /// Where a tensor that the file keeps lies after a run; 0 in an empty workspace.
  uint64_t address(const pmodel::DebugTensorDesc &tensor) const;

private:
  /// A launch, or an op on the host, which takes whole slots; a wait has neither.
  struct Step {
    enum Kind { Launch, Host, Wait } kind = Wait;
    uint32_t kernel = 0, blocks = 0; // number on the device
    uint32_t modelKernel = 0;
    std::string tensors; // that a launch computes
    std::vector<pmodel::VMArgument> places;
    int64_t hostOp = 0;
    std::vector<int64_t> parameters;
    size_t task = 0;      // number among the tasks
    bool isBound = false; // reads or writes inputs or outputs
  };

  explicit VM(Device &device) : device(&device) {}
  std::vector<pto_arg> arguments(const Step &step) const;
  Status runHostOp(const Step &step, const std::vector<pto_arg> &buffers) const;

  Device *device;
  size_t numInputs = 0, numPorts = 0;
  std::vector<pto_arg> slots;
  std::vector<DeviceBuffer> own, allocations;
  std::vector<Step> steps;
  std::unique_ptr<StepTasks> tasks; // null: steps run in order
};

} // namespace pto_mlir::runtime

#endif
