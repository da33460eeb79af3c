#include "VM.h"

#include "pto_mlir/HostOps/HostOps.h"
#include "pto_mlir/PModel/Program.h"

#include <memory>
#include <optional>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

namespace {

Status allocateTensors(Device &device, const std::vector<TensorDesc> &tensors, std::vector<DeviceBuffer> &buffers) {
  for (const TensorDesc &tensor : tensors) {
    auto buffer = DeviceBuffer::make(device, *tensorBytes(tensor.storageType, tensor.shape), "'" + tensor.name + "'");
    if (!buffer)
      return Failure{buffer.error()};
    buffers.push_back(buffer.take());
  }
  return {};
}

} // namespace

Result<VM> VM::prepare(Device &device, const ModelDesc &model, const VariantDesc &variant, const KernelHandles &kernels,
                       const DeviceBuffer &weights) {
  VM vm(device);
  if (Status status = allocateTensors(device, variant.inputs, vm.inputs); !status)
    return Failure{status.error()};
  if (Status status = allocateTensors(device, variant.outputs, vm.outputs); !status)
    return Failure{status.error()};

  const ProgramDesc &program = variant.program;
  EntrySlots entry(variant);
  std::vector<pto_arg> slots(program.numSlots, pto_arg{0, 0});
  for (uint32_t i = 0; i < entry.numInputs; ++i)
    slots[entry.input(i)] = {vm.inputs[i].address(), vm.inputs[i].bytes()};
  for (uint32_t i = 0; i < entry.numOutputs; ++i)
    slots[entry.output(i)] = {vm.outputs[i].address(), vm.outputs[i].bytes()};
  slots[entry.weights()] = {weights.address(), weights.bytes()};

  auto instructions = decodeProgram(program.code);
  if (!instructions)
    return Failure{"program '" + program.name + "': " + instructions.error()};
  for (const VMInstruction &insn : *instructions) {
    Step step;
    switch (insn.opcode) {
    case VMOpcode::Alloc: {
      auto buffer = DeviceBuffer::make(device, insn.bytes, "the workspace");
      if (!buffer)
        return Failure{buffer.error()};
      slots[insn.slot] = {buffer->address(), buffer->bytes()};
      vm.allocations.push_back(buffer.take());
      continue;
    }
    default: // free: kept for the next run; return
      continue;
    case VMOpcode::Wait:
      step.kind = Step::Wait;
      break;
    case VMOpcode::CallDevice: {
      uint32_t kernel = program.kernels[insn.kernel];
      step.kind = Step::Launch;
      step.kernel = kernels[kernel];
      step.modelKernel = kernel;
      step.blocks = model.kernels[kernel].blocks;
      for (const VMArgument &argument : insn.arguments)
        step.arguments.push_back({slots[argument.slot].address + argument.offset, argument.bytes});
      break;
    }
    case VMOpcode::CallHost: {
      step.kind = Step::Host;
      step.hostOp = program.constants[insn.hostOp];
      auto begin = program.constants.begin() + insn.hostOp + 2;
      step.parameters.assign(begin, begin + program.constants[insn.hostOp + 1]);
      for (uint32_t slot : insn.slots)
        step.arguments.push_back(slots[slot]);
      break;
    }
    }
    vm.steps.push_back(std::move(step));
  }
  return vm;
}

Status VM::useTasks(tasks::TaskRuntime &runtime, const ModelDesc &model) {
  tasks = std::make_unique<StepTasks>(runtime, *device);
  std::vector<std::optional<KernelUse>> uses(model.kernels.size());
  for (const Step &step : steps) {
    Status status;
    if (step.kind == Step::Launch) {
      const KernelDesc &kernel = model.kernels[step.modelKernel];
      std::optional<KernelUse> &use = uses[step.modelKernel];
      if (!use)
        use = kernelUse(kernel);
      status = tasks->addLaunch(kernel.name, *use, step.kernel, step.blocks, step.arguments);
    } else if (step.kind == Step::Host) {
      status = tasks->addHostOp(std::string(hostops::hostOpName(step.hostOp)), step.arguments, [this, &step] { return runHostOp(step); });
    }
    if (!status)
      return status;
  }
  return {};
}

// Its inputs are there.
Status VM::runHostOp(const Step &step) const {
  std::vector<std::unique_ptr<std::byte[]>> copies;
  std::vector<hostops::HostBuffer> buffers;
  for (const pto_arg &argument : step.arguments) {
    copies.push_back(std::make_unique_for_overwrite<std::byte[]>(argument.bytes));
    buffers.push_back({copies.back().get(), argument.bytes});
    if (Status status = device->copyFromDevice(copies.back().get(), argument.address, argument.bytes); !status)
      return status;
  }
  if (Status status = hostops::runHostOp(step.hostOp, step.parameters, buffers); !status)
    return Failure{"host op " + std::string(hostops::hostOpName(step.hostOp)) + ": " + status.error()};
  // The last buffer is the result of every op so far.
  return device->copyToDevice(step.arguments.back().address, buffers.back().data, buffers.back().bytes);
}

Status VM::run() {
  if (tasks)
    return tasks->run();
  for (const Step &step : steps) {
    Status status;
    switch (step.kind) {
    case Step::Launch:
      status = device->launch(step.kernel, step.blocks, step.arguments);
      break;
    case Step::Host:
      status = device->synchronize();
      if (status)
        status = runHostOp(step);
      break;
    case Step::Wait:
      status = device->synchronize();
      break;
    }
    if (!status) {
      // Nothing of a failed run may still be queued when the next one begins.
      (void)device->synchronize();
      return status;
    }
  }
  return device->synchronize();
}

} // namespace pto_mlir::runtime
