// Kernels of the file that a program submits: tasks that write tensors which exist.
#ifndef PTO_MLIR_LIB_RUNTIME_SUBMITTEDKERNEL_H
#define PTO_MLIR_LIB_RUNTIME_SUBMITTEDKERNEL_H

#include "DeviceTensor.h"

namespace pto_mlir::runtime {

/// The tensor's device memory, stored as `storage`; uploads the tensor if it is not there yet.
Result<std::shared_ptr<DeviceTensor>> onDevice(TensorMemory &memory, bytecode::Tensor &tensor, ElementType storage);
/// A tensor that is only in device memory.
bytecode::TensorPtr deviceTensor(ElementType element, std::vector<int64_t> shape, std::shared_ptr<DeviceTensor> place);

/// One kernel, as one key submits it.
class SubmittedKernel : public bytecode::Kernel {
public:
  static Result<std::shared_ptr<SubmittedKernel>> make(TensorMemory &memory, const bytecode::KernelKey &key);

  bool knowsResidences() const override { return true; }
  Status run(std::span<const bytecode::Value> operands, std::span<bytecode::Value>) override {
    return submit(operands, {});
  }
  /// Submits a launch; without tasks, queues it. Fails where a tensor that it writes is an input of the program, or
  /// shares memory with another one.
  Status submit(std::span<const bytecode::Value> operands, std::span<const tasks::TaskId> after);
  /// The task of the last submission.
  tasks::TaskId task() const { return steps ? steps->lastTask(0) : tasks::TaskId(); }
  void beginRun() {
    if (steps)
      steps->beginRun();
  }
  std::string failureText() const { return steps ? steps->failureText() : ""; }

private:
  SubmittedKernel(TensorMemory &memory, const bytecode::KernelKey &key) : memory(memory), key(key) {}
  /// Gathers a launch on device `rank`, which runs with those of other devices.
  Status submitRanked(int64_t rank, std::vector<pto_arg> arguments, std::vector<int64_t> scalars);
  Status place(bytecode::Tensor &tensor, bool written, std::vector<pto_arg> &arguments);

  TensorMemory &memory;
  bytecode::KernelKey key;
  std::vector<bytecode::Direction> directions;
  pmodel::KernelUse use;
  std::string name;
  uint32_t handle = 0, blocks = 1;
  bool isRanked = false;            // the last operand is the device
  std::unique_ptr<StepTasks> steps; // null: launches run in order, or on several devices
};

} // namespace pto_mlir::runtime

#endif
