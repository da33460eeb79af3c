// The dispatch loop. Relies on properties verified by Program::load: indices, types, stack depths, initialised slots.
#include "pto_mlir/ByteCode/Machine.h"

#include "Arithmetic.h"
#include "VerifyFunction.h"
#include "pto_mlir/ByteCode/Text.h"

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
  for (size_t i = operands.size(); i-- > 0;) {
    if (key.operands[i].isTensor)
      operands[i].tensor = std::move(tensorStack[--references]);
    else
      operands[i].bits = numberStack[--numbers];
  }
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

template <bool traced> Status Machine::execute(uint32_t function) {
  uint64_t jumpsLeft = options.maxJumps ? options.maxJumps : UINT64_MAX;
  size_t base = 0;
  const Step *steps = loaded.functions()[function].steps.data(), *step = steps;
  int64_t *number = numberStack.data(), *slot = numberSlots.data();
  Status status;

// The stack pointers are cached in locals; SPILL writes them back before other code uses the members.
#define SPILL() numbers = number - numberStack.data()
#define RELOAD() number = numberStack.data() + numbers, slot = numberSlots.data() + base
#define FAIL(MESSAGE)                                                                                                  \
  do {                                                                                                                 \
    status = Failure{MESSAGE};                                                                                         \
    goto failed;                                                                                                       \
  } while (false)
#define BINARY(EXPRESSION)                                                                                             \
  {                                                                                                                    \
    int64_t y = *--number, x = number[-1];                                                                             \
    number[-1] = wrap(EXPRESSION, step->width);                                                                        \
  }                                                                                                                    \
  break
#define DIVISION(EXPRESSION)                                                                                           \
  if (number[-1] == 0)                                                                                                 \
    FAIL("division by zero");                                                                                          \
  BINARY(EXPRESSION)
#define FLOATS(EXPRESSION)                                                                                             \
  {                                                                                                                    \
    double y = std::bit_cast<double>(*--number), x = std::bit_cast<double>(number[-1]);                                \
    number[-1] = std::bit_cast<int64_t>(roundTo(EXPRESSION, step->width));                                             \
  }                                                                                                                    \
  break
#define JUMP(TARGET)                                                                                                   \
  {                                                                                                                    \
    const Step *target = steps + (TARGET);                                                                             \
    if (target <= step && --jumpsLeft == 0)                                                                            \
      FAIL("ran longer than " + std::to_string(options.maxJumps) + " jumps");                                          \
    step = target;                                                                                                     \
    continue;                                                                                                          \
  }

  while (true) {
    if constexpr (traced) {
      SPILL();
      ++numInstructions;
      if (step - steps < std::ptrdiff_t(loaded.functions()[function].steps.size()) - 1)
        traceSink(traceLine(function, step - steps, base));
    }
    switch (step->opcode) {
    case Opcode::Nop:
      break;
    case Opcode::IConst:
      *number++ = step->b;
      break;
    case Opcode::Ldc:
      tensorStack[references++] = tensors[step->a];
      break;
    case Opcode::ILoad:
    case Opcode::FLoad:
      *number++ = slot[step->a];
      break;
    case Opcode::IStore:
    case Opcode::FStore:
      slot[step->a] = *--number;
      break;
    case Opcode::ALoad:
      tensorStack[references++] = tensorSlots[base + step->a];
      break;
    case Opcode::AStore:
      tensorSlots[base + step->a] = std::move(tensorStack[--references]);
      break;
    case Opcode::Drop:
      tensorSlots[base + step->a].reset();
      break;
    case Opcode::Pop:
      step->kind == Kind::Tensor ? tensorStack[--references].reset() : void(--number);
      break;
    case Opcode::Dup:
      if (step->kind == Kind::Tensor) {
        tensorStack[references] = tensorStack[references - 1];
        ++references;
      } else {
        number[0] = number[-1];
        ++number;
      }
      break;
    case Opcode::Swap:
      // A number and a tensor are on different stacks, so swapping them is a no-op.
      if (step->kind == Kind::Tensor && step->kind2 == Kind::Tensor)
        std::swap(tensorStack[references - 1], tensorStack[references - 2]);
      else if (step->kind != Kind::Tensor && step->kind2 != Kind::Tensor)
        std::swap(number[-1], number[-2]);
      break;
    case Opcode::IAdd:
      BINARY(int64_t(uint64_t(x) + uint64_t(y)));
    case Opcode::ISub:
      BINARY(int64_t(uint64_t(x) - uint64_t(y)));
    case Opcode::IMul:
      BINARY(int64_t(uint64_t(x) * uint64_t(y)));
    case Opcode::IDiv:
      DIVISION(divide(x, y));
    case Opcode::IRem:
      DIVISION(y == -1 ? 0 : x % y);
    case Opcode::IDivU:
      DIVISION(int64_t(asUnsigned(x, step->width) / asUnsigned(y, step->width)));
    case Opcode::IRemU:
      DIVISION(int64_t(asUnsigned(x, step->width) % asUnsigned(y, step->width)));
    case Opcode::IFloorDiv:
      DIVISION(floorDivide(x, y));
    case Opcode::ICeilDiv:
      DIVISION(ceilDivide(x, y));
    case Opcode::IMin:
      BINARY(x < y ? x : y);
    case Opcode::IMax:
      BINARY(x > y ? x : y);
    case Opcode::IMinU:
      BINARY(asUnsigned(x, step->width) < asUnsigned(y, step->width) ? x : y);
    case Opcode::IMaxU:
      BINARY(asUnsigned(x, step->width) > asUnsigned(y, step->width) ? x : y);
    case Opcode::IAnd:
      BINARY(x & y);
    case Opcode::IOr:
      BINARY(x | y);
    case Opcode::IXor:
      BINARY(x ^ y);
    case Opcode::IShl:
      BINARY(shiftLeft(x, asUnsigned(y, step->width), step->width));
    case Opcode::IShr:
      BINARY(shiftRight(x, asUnsigned(y, step->width), step->width));
    case Opcode::IShrU:
      BINARY(shiftRightUnsigned(x, asUnsigned(y, step->width), step->width));
    case Opcode::ICmp: {
      int64_t y = *--number, x = number[-1];
      number[-1] = compareIntegers(step->b, x, y, step->width);
      break;
    }
    case Opcode::FAdd:
      FLOATS(x + y);
    case Opcode::FSub:
      FLOATS(x - y);
    case Opcode::FMul:
      FLOATS(x * y);
    case Opcode::FDiv:
      FLOATS(x / y);
    case Opcode::FRem:
      FLOATS(std::fmod(x, y));
    case Opcode::FMin:
      FLOATS(minimum(x, y));
    case Opcode::FMax:
      FLOATS(maximum(x, y));
    case Opcode::FNeg:
      number[-1] ^= INT64_MIN;
      break;
    case Opcode::FCmp: {
      double y = std::bit_cast<double>(*--number), x = std::bit_cast<double>(number[-1]);
      number[-1] = compareFloats(step->b, x, y);
      break;
    }
    case Opcode::Conv:
    case Opcode::ConvU: {
      auto value = convert(*step, number[-1]);
      if (!value)
        FAIL("the float does not fit into the integer");
      number[-1] = *value;
      break;
    }
    case Opcode::Select:
      // The condition is below both on the number stack.
      if (step->kind == Kind::Tensor) {
        --references;
        if (!*--number)
          tensorStack[references - 1] = std::move(tensorStack[references]);
        tensorStack[references].reset();
      } else {
        number -= 2;
        number[-1] = number[-1] ? number[0] : number[1];
      }
      break;
    case Opcode::Goto:
      JUMP(step->a);
    case Opcode::IfEq:
      if (*--number == 0)
        JUMP(step->a);
      break;
    case Opcode::IfNe:
      if (*--number != 0)
        JUMP(step->a);
      break;
    case Opcode::Call: {
      if (frames.size() >= options.maxCallDepth)
        FAIL("calls are nested deeper than " + std::to_string(options.maxCallDepth));
      if (--jumpsLeft == 0)
        FAIL("ran longer than " + std::to_string(options.maxJumps) + " jumps");
      SPILL();
      frames.push_back({function, uint32_t(step - steps + 1), base});
      function = step->a;
      base = slotEnd;
      enter(function);
      RELOAD();
      const LoadedFunction &callee = loaded.functions()[function];
      for (size_t i = loaded.module().functions[function].parameters.size(); i-- > 0;) {
        if (callee.slots[i] == Kind::Tensor)
          tensorSlots[base + i] = std::move(tensorStack[--references]);
        else
          slot[i] = *--number;
      }
      step = steps = callee.steps.data();
      continue;
    }
    case Opcode::Return: {
      // The results are already on top of the caller's stacks.
      for (size_t i = base; i < slotEnd; ++i)
        tensorSlots[i].reset();
      slotEnd = base;
      if (frames.empty()) {
        SPILL();
        return {};
      }
      Frame frame = frames.back();
      frames.pop_back();
      function = frame.function;
      base = frame.slots;
      slot = numberSlots.data() + base;
      steps = loaded.functions()[function].steps.data();
      step = steps + frame.next;
      continue;
    }
    case Opcode::Assert:
      if (!*--number)
        FAIL("assertion failed: " + std::get<TextConstant>(loaded.module().constants[step->a]).text);
      break;
    case Opcode::Unreachable:
      FAIL("a place was reached that the program says is never reached");
    case Opcode::InvokeStatic:
    case Opcode::Launch:
      SPILL();
      status = invoke(*step);
      if (!status)
        goto failed;
      RELOAD();
      break;
    case Opcode::WaitQueue:
      status = provider->wait(uint32_t(step->b));
      if (!status)
        goto failed;
      break;
    case Opcode::Barrier:
      status = provider->barrier();
      if (!status)
        goto failed;
      break;
    default:
      SPILL();
      status = tensorStep(*step, base);
      if (!status)
        goto failed;
      RELOAD();
      break;
    }
    ++step;
  }

failed:
  failedFunction = function;
  failedInstruction = step - steps;
  return status;
#undef SPILL
#undef RELOAD
#undef FAIL
#undef BINARY
#undef DIVISION
#undef FLOATS
#undef JUMP
}

} // namespace pto_mlir::bytecode
