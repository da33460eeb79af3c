// Runs of a program: arguments, results, calls of kernels. The dispatch loop is in Execute.cpp.
#include "pto_mlir/ByteCode/Machine.h"

#include "VerifyFunction.h"
#include "pto_mlir/ByteCode/Text.h"

#include <cstring>

namespace pto_mlir::bytecode {

Status KernelProvider::launch(Kernel &kernel, uint32_t, std::span<const Value> operands, std::span<Value> results) {
  return kernel.run(operands, results);
}

Result<TensorPtr> KernelProvider::external(const std::string &name, const Type &type) {
  return Failure{"no tensor '" + name + "' (" + typeText(type) + ") was given to the program"};
}

Result<Machine> Machine::create(Program program, std::shared_ptr<KernelProvider> provider, MachineOptions options) {
  Machine machine(std::move(program));
  const Module &module = machine.loaded.module();
  machine.provider = std::move(provider);
  machine.options = options;
  machine.kernels.resize(module.constants.size());
  machine.tensors.resize(module.constants.size());
  for (size_t i = 0; i < module.constants.size(); ++i) {
    if (auto *key = std::get_if<KernelKey>(&module.constants[i])) {
      auto kernel = machine.provider->resolve(*key, mangle(*key));
      if (!kernel)
        return kernel.failure();
      machine.kernels[i] = kernel.take();
    } else if (auto *constant = std::get_if<TensorConstant>(&module.constants[i])) {
      const Type &type = module.types[constant->type];
      if (constant->isExternal) {
        auto tensor = machine.provider->external(constant->name, type);
        if (!tensor)
          return tensor.failure();
        if (!*tensor || !isRefinedBy(type, Type{(*tensor)->element, true, (*tensor)->shape}))
          return Failure{"the tensor '" + constant->name + "' is not of type " + typeText(type)};
        machine.tensors[i] = tensor.take();
      } else {
        machine.tensors[i] = makeTensor(type.element, type.shape);
        if (!machine.tensors[i])
          return Failure{"not enough memory for " + typeText(type)};
        if (!constant->data.empty())
          std::memcpy(machine.tensors[i]->data.get(), constant->data.data(), constant->data.size());
      }
    }
  }
  return machine;
}

void Machine::enter(uint32_t function) {
  const LoadedFunction &callee = loaded.functions()[function];
  slotEnd += callee.slots.size();
  if (numberSlots.size() < slotEnd) {
    numberSlots.resize(slotEnd * 2);
    tensorSlots.resize(slotEnd * 2);
  }
  if (numberStack.size() < numbers + callee.numberDepth)
    numberStack.resize((numbers + callee.numberDepth) * 2);
  if (tensorStack.size() < references + callee.tensorDepth)
    tensorStack.resize((references + callee.tensorDepth) * 2);
}

Result<std::vector<Value>> Machine::run(std::vector<Value> arguments, uint32_t function) {
  const Module &module = loaded.module();
  if (function >= module.functions.size())
    return Failure{"the program has no function " + std::to_string(function)};
  const Function &entry = module.functions[function];
  if (arguments.size() != entry.parameters.size())
    return Failure{"@" + entry.name + " takes " + std::to_string(entry.parameters.size()) + " arguments, got " +
                   std::to_string(arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type &type = module.types[entry.parameters[i]];
    const Value &value = arguments[i];
    bool good = type.isTensor
                    ? value.tensor && isRefinedBy(type, Type{value.tensor->element, true, value.tensor->shape})
                    : type.kind() == Kind::Float || fitsWidth(value.bits, type.width());
    if (!good)
      return Failure{"@" + entry.name + ": argument " + std::to_string(i) + " is not of type " + typeText(type)};
  }
  enter(function);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tensor)
      tensorSlots[i] = std::move(arguments[i].tensor);
    else
      numberSlots[i] = arguments[i].bits;
  }
  Status status = traceSink ? execute<true>(function) : execute<false>(function);
  // Pending launches may still access values of this run.
  Status waited = waitForLaunches();
  std::vector<Value> results(entry.results.size());
  for (size_t i = results.size(); status && i-- > 0;) {
    if (module.types[entry.results[i]].isTensor)
      results[i].tensor = std::move(tensorStack[--references]);
    else
      results[i].bits = numberStack[--numbers];
  }
  numbers = references = slotEnd = 0;
  frames.clear();
  tensorSlots.clear();
  tensorStack.clear();
  numberSlots.clear();
  numberStack.clear();
  if (!status)
    return loaded.failureAt(failedFunction, failedInstruction, status.error());
  if (!waited)
    return waited.failure();
  return results;
}

void Machine::popOperands(const KernelKey &key, std::span<Value> operands) {
  for (size_t i = operands.size(); i-- > 0;) {
    if (key.operands[i].isTensor)
      operands[i].tensor = std::move(tensorStack[--references]);
    else
      operands[i].bits = numberStack[--numbers];
  }
}

Status Machine::invoke(const Step &step) {
  const auto &key = std::get<KernelKey>(loaded.module().constants[step.a]);
  // Avoids an allocation for kernels with few operands.
  Value small[12];
  std::vector<Value> large;
  size_t count = key.operands.size() + key.results.size();
  if (count > std::size(small))
    large.resize(count);
  std::span<Value> values(count > std::size(small) ? large.data() : small, count);
  auto operands = values.first(key.operands.size()), results = values.subspan(key.operands.size());
  popOperands(key, operands);
  Kernel &kernel = *kernels[step.a];
  bool isLaunch = step.opcode == Opcode::Launch;
  if (!kernel.knowsResidences()) {
    if (isLaunch)
      launched = true;
    else if (Status status = waitForLaunches(); !status)
      return status;
    for (const Value &operand : operands)
      if (operand.tensor)
        if (Status status = operand.tensor->fetch(); !status)
          return status;
  }
  Status status =
      isLaunch ? provider->launch(kernel, uint32_t(step.b), operands, results) : kernel.run(operands, results);
  if (!status)
    return Failure{mangle(key) + ": " + status.error()};
  for (size_t i = 0; i < results.size(); ++i) {
    const Type &type = key.results[i];
    if (type.isTensor) {
      if (!results[i].tensor || !isRefinedBy(type, Type{results[i].tensor->element, true, results[i].tensor->shape}))
        return Failure{mangle(key) + ": its result " + std::to_string(i) + " is not of type " + typeText(type)};
      tensorStack[references++] = std::move(results[i].tensor);
    } else {
      if (type.kind() == Kind::Integer && !fitsWidth(results[i].bits, type.width()))
        return Failure{mangle(key) + ": its result " + std::to_string(results[i].bits) + " is not of type " +
                       typeText(type)};
      numberStack[numbers++] = results[i].bits;
    }
  }
  return {};
}

Status Machine::waitForLaunches() {
  if (!launched)
    return {};
  launched = false;
  return provider->wait(KernelProvider::kAllQueues);
}

} // namespace pto_mlir::bytecode
