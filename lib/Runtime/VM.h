// Executes the verified bytecode of one net variant.
#ifndef PTO_MLIR_LIB_RUNTIME_VM_H
#define PTO_MLIR_LIB_RUNTIME_VM_H

#include "StepTasks.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Runtime/Device.h"

#include <vector>

namespace pto_mlir::runtime {

/// A program with its buffers. Format 1 has no branches, so every buffer has one size and one address for good: buffers are
/// allocated and arguments resolved once, and running is a walk over launches.
class VM {
public:
  /// Device handles of the model's kernels, by index into ModelDesc::kernels.
  using KernelHandles = std::vector<uint32_t>;

  /// `variant` passed verifyVariant. `weights` is the uploaded weights section, shared with other programs.
  static Result<VM> prepare(Device &device, const pmodel::ModelDesc &model, const pmodel::VariantDesc &variant,
                            const KernelHandles &kernels, const DeviceBuffer &weights);

  /// Runs go through `runtime` from now on, as tasks: steps that share no memory may overlap. The VM stays where it is.
  Status useTasks(tasks::TaskRuntime &runtime, const pmodel::ModelDesc &model);
  /// Runs the program to its end and waits.
  Status run();

  const DeviceBuffer &input(size_t i) const { return inputs[i]; }
  const DeviceBuffer &output(size_t i) const { return outputs[i]; }
  /// The first allocation; null when the program makes none.
  const DeviceBuffer *workspace() const { return allocations.empty() ? nullptr : &allocations.front(); }

private:
  struct Step {
    enum Kind { Launch, Host, Wait } kind = Wait;
    uint32_t kernel = 0, blocks = 0; // number on the device
    uint32_t modelKernel = 0;
    std::vector<pto_arg> arguments; // pointers of a launch, whole buffers of a host op
    int64_t hostOp = 0;
    std::vector<int64_t> parameters;
  };

  explicit VM(Device &device) : device(&device) {}
  Status runHostOp(const Step &step) const;

  Device *device;
  std::vector<DeviceBuffer> inputs, outputs, allocations;
  std::vector<Step> steps;
  std::unique_ptr<StepTasks> tasks; // null: steps run in order
};

} // namespace pto_mlir::runtime

#endif
