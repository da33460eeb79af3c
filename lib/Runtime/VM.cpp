#include "VM.h"

#include "pto_mlir/HostOps/HostOps.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Sizes.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

/// The input whose memory a preset output shares.
static std::optional<uint32_t> presetBy(const VariantDesc &variant, const TensorDesc &output) {
  for (uint32_t i = 0; output.preset && i < variant.inputs.size(); ++i)
    if (variant.inputs[i].name == output.name)
      return i;
  return std::nullopt;
}

Result<VM> VM::prepare(Device &device, const ModelDesc &model, const VariantDesc &variant, const KernelHandles &kernels,
                       const DeviceBuffer &weights, Ports ports) {
  VM vm(device);
  const ProgramDesc &program = variant.program;
  EntrySlots entry(variant);
  std::vector<pto_arg> &slots = vm.slots;
  slots.assign(program.numSlots, pto_arg{0, 0});
  vm.numInputs = entry.numInputs;
  vm.numPorts = entry.numInputs + entry.numOutputs;
  for (const std::vector<TensorDesc> *list : {&variant.inputs, &variant.outputs})
    for (const TensorDesc &tensor : *list) {
      uint32_t slot =
          list == &variant.inputs ? entry.input(&tensor - list->data()) : entry.output(&tensor - list->data());
      slots[slot].bytes = *tensorBytes(tensor.storageType, tensor.shape);
      if (ports == Ports::Bound)
        continue;
      if (auto input = presetBy(variant, tensor)) {
        slots[slot] = slots[entry.input(*input)];
        continue;
      }
      auto buffer = DeviceBuffer::make(device, slots[slot].bytes, "'" + tensor.name + "'");
      if (!buffer)
        return buffer.failure();
      slots[slot].address = buffer->address();
      vm.own.push_back(buffer.take());
    }
  slots[entry.weights()] = {weights.address(), weights.bytes()};
  if (variant.state) {
    vm.group = &model.states[variant.state->group];
    vm.stateSlot = entry.state();
    slots[vm.stateSlot].bytes = vm.group->bytes;
    vm.swapped.assign(vm.group->tensors.size(), false);
    vm.secondWritten = vm.swapped;
  }

  auto instructions = decodeProgram(program.code);
  if (!instructions)
    return Failure{"program '" + program.name + "': " + instructions.error()};
  vm.graph = std::make_shared<TaskGraph>(program);
  size_t launch = 0;
  for (const VMInstruction &insn : *instructions) {
    Step step;
    switch (insn.opcode) {
    case VMOpcode::Alloc: {
      auto buffer = DeviceBuffer::make(device, insn.bytes, "the workspace");
      if (!buffer)
        return buffer.failure();
      slots[insn.slot] = {buffer->address(), buffer->bytes()};
      vm.allocations.push_back(buffer.take());
      continue;
    }
    default: // free (buffers are kept for the next run) and return
      continue;
    case VMOpcode::Wait:
      step.kind = Step::Wait;
      break;
    case VMOpcode::CallDevice:
    case VMOpcode::CallDeviceScalars: {
      uint32_t kernel = program.kernels[insn.kernel];
      step.kind = Step::Launch;
      step.kernel = kernels[kernel];
      step.modelKernel = kernel;
      if (launch < program.launchOps.size())
        step.tensors = program.launchOps[launch];
      if (launch < program.ranks.size())
        step.rank = program.ranks[launch];
      step.launch = launch++;
      step.blocks = model.kernels[kernel].blocks;
      step.places.assign(insn.arguments.begin(), insn.arguments.end());
      step.sizes = insn.scalars;
      break;
    }
    case VMOpcode::CallHost: {
      step.kind = Step::Host;
      step.hostOp = program.constants[insn.hostOp];
      auto begin = program.constants.begin() + insn.hostOp + 2;
      step.parameters.assign(begin, begin + program.constants[insn.hostOp + 1]);
      for (uint32_t slot : insn.slots)
        step.places.push_back({slot, 0, slots[slot].bytes});
      break;
    }
    }
    step.isBound = std::any_of(step.places.begin(), step.places.end(),
                               [&](const VMArgument &place) { return place.slot < vm.numPorts; });
    step.usesState = vm.group && std::any_of(step.places.begin(), step.places.end(),
                                             [&](const VMArgument &place) { return place.slot == vm.stateSlot; });
    vm.steps.push_back(std::move(step));
  }
  vm.inspectState(model);
  vm.windows = program.windows;
  if (Status status = vm.setSymbols(greatestValues(variant)); !status)
    return status.failure();
  if (!program.ranks.empty()) {
    vm.ranked.emplace(device);
    vm.addRanks(model);
  }
  return vm;
}

Status VM::setSymbols(std::span<const int64_t> symbols) {
  symbolValues.assign(symbols.begin(), symbols.end());
  for (Step &step : steps) {
    if (step.sizes.empty())
      continue;
    step.scalars.clear();
    for (const bytecode::Size &size : step.sizes)
      step.scalars.push_back(*bytecode::evaluate(size, symbols)); // fits: verified with the file
    if (tasks)
      if (Status status = tasks->bind(step.task, arguments(step), step.scalars); !status)
        return status;
  }
  return {};
}

void VM::inspectState(const ModelDesc &model) {
  for (const Step &step : steps) {
    if (!step.usesState)
      continue;
    KernelUse use = kernelUse(model.kernels[step.modelKernel]);
    for (size_t argument = 0; argument < step.places.size(); ++argument) {
      const VMArgument &place = step.places[argument];
      if (place.slot != stateSlot || !use.arguments[argument].written)
        continue;
      for (size_t i = 0; i < group->tensors.size(); ++i) {
        const StateTensorDesc &tensor = group->tensors[i];
        if (place.offset >= tensor.offset && place.offset - tensor.offset < stateBytes(tensor))
          replaces |= tensor.sequenceAxis < 0;
        else if (tensor.places == 2 && place.offset >= secondPlace(tensor) &&
                 place.offset - secondPlace(tensor) < stateBytes(tensor))
          secondWritten[i] = true;
      }
    }
  }
}

uint64_t VM::stateAddress(uint64_t offset) const {
  uint64_t begin = slots[stateSlot].address;
  for (size_t i = 0; i < swapped.size(); ++i) {
    if (!swapped[i])
      continue;
    const StateTensorDesc &tensor = group->tensors[i];
    uint64_t second = secondPlace(tensor), bytes = stateBytes(tensor);
    if (offset >= tensor.offset && offset - tensor.offset < bytes)
      return begin + second + (offset - tensor.offset);
    if (offset >= second && offset - second < bytes)
      return begin + tensor.offset + (offset - second);
  }
  return begin + offset;
}

std::vector<pto_arg> VM::arguments(const Step &step) const {
  std::vector<pto_arg> list;
  list.reserve(step.places.size());
  for (const VMArgument &place : step.places)
    list.push_back(
        {group && place.slot == stateSlot ? stateAddress(place.offset) : slots[place.slot].address + place.offset,
         place.bytes});
  return list;
}

Status VM::bindState(uint64_t address, const std::vector<bool> &flags) {
  if (slots[stateSlot].address == address && swapped == flags)
    return {};
  slots[stateSlot].address = address;
  swapped = flags;
  for (const Step &step : steps)
    if (tasks && step.usesState)
      if (Status status = tasks->bind(step.task, arguments(step), step.scalars); !status)
        return status;
  return {};
}

Status VM::useTasks(tasks::TaskRuntime &runtime, const ModelDesc &model) {
  tasks = std::make_unique<StepTasks>(runtime, *device);
  std::vector<std::optional<KernelUse>> uses(model.kernels.size());
  for (Step &step : steps) {
    Status status;
    step.task = tasks->size();
    if (step.kind == Step::Launch) {
      const KernelDesc &kernel = model.kernels[step.modelKernel];
      std::optional<KernelUse> &use = uses[step.modelKernel];
      if (!use)
        use = kernelUse(kernel);
      status =
          tasks->addLaunch(kernel.name, step.tensors, *use, step.kernel, step.blocks, arguments(step), step.scalars);
      if (status)
        tasks->setPlace(graph->placeOf(step.launch));
    } else if (step.kind == Step::Host) {
      status =
          tasks->addHostOp(std::string(hostops::hostOpName(step.hostOp)), arguments(step),
                           [this, &step](const std::vector<pto_arg> &buffers) { return runHostOp(step, buffers); });
    }
    if (!status)
      return status;
  }
  return {};
}

// The inputs of the step are complete when it is called.
Status VM::runHostOp(const Step &step, const std::vector<pto_arg> &arguments) const {
  std::vector<std::unique_ptr<std::byte[]>> copies;
  std::vector<hostops::HostBuffer> buffers;
  for (const pto_arg &argument : arguments) {
    copies.push_back(std::make_unique_for_overwrite<std::byte[]>(argument.bytes));
    buffers.push_back({copies.back().get(), argument.bytes});
    if (Status status = device->copyFromDevice(copies.back().get(), argument.address, argument.bytes); !status)
      return status;
  }
  if (Status status = hostops::runHostOp(step.hostOp, step.parameters, buffers); !status)
    return Failure{"host op " + std::string(hostops::hostOpName(step.hostOp)) + ": " + status.error()};
  // Every host op writes exactly its last buffer.
  return device->copyToDevice(arguments.back().address, buffers.back().data, buffers.back().bytes);
}

uint64_t VM::address(const DebugTensorDesc &tensor) const {
  switch (tensor.region) {
  case Region::Input:
    return input(tensor.index).address + tensor.offset;
  case Region::Output:
    return output(tensor.index).address + tensor.offset;
  case Region::State:
    return stateAddress(tensor.offset);
  default:
    return workspace() ? workspace()->address() + tensor.offset : 0;
  }
}

Status VM::bind(const std::vector<pto_arg> &ports) {
  for (size_t i = 0; i < numPorts; ++i)
    slots[i].address = ports[i].address;
  for (const Step &step : steps)
    if (tasks && step.isBound)
      if (Status status = tasks->bind(step.task, arguments(step), step.scalars); !status)
        return status;
  return {};
}

} // namespace pto_mlir::runtime
