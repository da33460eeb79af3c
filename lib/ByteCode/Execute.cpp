// The dispatch loop. Relies on properties verified by Program::load: indices, types, stack depths, initialised slots.
#include "NumberSteps.h"
#include "pto_mlir/ByteCode/Machine.h"

namespace pto_mlir::bytecode {

/// The state of one run of the loop, and the instructions in groups. Every member is inlined into run() and none lets
/// `this` escape, so that the fields live in registers. The stack pointer of numbers is cached here: spill() and
/// reload() enclose code that uses the machine's own.
class Machine::Interpreter : NumberSteps {
public:
  PTO_INLINE Interpreter(Machine &machine, uint32_t function)
      : machine(machine), function(function),
        jumpsLeft(machine.options.maxJumps ? machine.options.maxJumps : UINT64_MAX) {
    step = steps = machine.loaded.functions()[function].steps.data();
    reload();
  }

  template <bool traced> PTO_INLINE Status run() {
    Status status;
    while (true) {
      if constexpr (traced)
        trace();
      Next next = Next::Other;
      switch (step->opcode) {
#define PTO_VM_OPCODE(NAME, CODE, MNEMONIC, OPERANDS)                                                                  \
  case Opcode::NAME:                                                                                                   \
    next = perform(Opcode::NAME, status);                                                                              \
    break;
#include "pto_mlir/ByteCode/Opcodes.def"
      }
      switch (next) {
      case Next::Advance:
        ++step;
        continue;
      case Next::Jumped:
        continue;
      case Next::Returned:
        return {};
      default:
        machine.failedFunction = function;
        machine.failedInstruction = step - steps;
        return next == Next::Failed ? status : fault(machine, next, *step);
      }
    }
  }

private:
  /// Called with a constant opcode, for which the switches of the groups fold to one case.
  PTO_INLINE Next perform(Opcode opcode, Status &status) {
    for (auto group : {&Interpreter::numbersOnly, &Interpreter::slots, &Interpreter::stack, &Interpreter::branches,
                       &Interpreter::calls})
      if (Next next = (this->*group)(opcode); next != Next::Other)
        return next;
    return external(opcode, status);
  }

  PTO_INLINE Next numbersOnly(Opcode opcode) { return NumberSteps::perform(opcode); }

  PTO_INLINE void spill() { machine.numbers = number - machine.numberStack.data(); }
  PTO_INLINE void reload() {
    number = machine.numberStack.data() + machine.numbers;
    slot = machine.numberSlots.data() + base;
  }

  PTO_INLINE Next jump() {
    const Step *target = steps + step->a;
    if (target <= step && --jumpsLeft == 0)
      return Next::TooManyJumps;
    step = target;
    return Next::Jumped;
  }

  PTO_INLINE Next slots(Opcode opcode) {
    switch (opcode) {
    case Opcode::Nop:
      return Next::Advance;
    case Opcode::IConst:
      *number++ = step->b;
      return Next::Advance;
    case Opcode::Ldc:
      machine.tensorStack[machine.references++] = machine.tensors[step->a];
      return Next::Advance;
    case Opcode::ILoad:
    case Opcode::FLoad:
      *number++ = slot[step->a];
      return Next::Advance;
    case Opcode::IStore:
    case Opcode::FStore:
      slot[step->a] = *--number;
      return Next::Advance;
    case Opcode::ALoad:
      machine.tensorStack[machine.references++] = machine.tensorSlots[base + step->a];
      return Next::Advance;
    case Opcode::AStore:
      machine.tensorSlots[base + step->a] = std::move(machine.tensorStack[--machine.references]);
      return Next::Advance;
    case Opcode::Drop:
      machine.tensorSlots[base + step->a].reset();
      return Next::Advance;
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next stack(Opcode opcode) {
    TensorPtr *tensor = machine.tensorStack.data() + machine.references; // one past the top
    bool isTensor = step->kind == Kind::Tensor;
    switch (opcode) {
    case Opcode::Pop:
      if (isTensor)
        machine.tensorStack[--machine.references].reset();
      else
        --number;
      return Next::Advance;
    case Opcode::Dup:
      if (isTensor) {
        tensor[0] = tensor[-1];
        ++machine.references;
      } else {
        number[0] = number[-1];
        ++number;
      }
      return Next::Advance;
    case Opcode::Swap:
      // A number and a tensor are on different stacks, so swapping them is a no-op.
      if (isTensor && step->kind2 == Kind::Tensor)
        std::swap(tensor[-1], tensor[-2]);
      else if (!isTensor && step->kind2 != Kind::Tensor)
        std::swap(number[-1], number[-2]);
      return Next::Advance;
    case Opcode::Select:
      // The condition is below both on the number stack.
      if (isTensor) {
        --machine.references;
        if (!*--number)
          tensor[-2] = std::move(tensor[-1]);
        tensor[-1].reset();
      } else {
        number -= 2;
        number[-1] = number[-1] ? number[0] : number[1];
      }
      return Next::Advance;
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next branches(Opcode opcode) {
    switch (opcode) {
    case Opcode::Goto:
      return jump();
    case Opcode::IfEq:
      return *--number == 0 ? jump() : Next::Advance;
    case Opcode::IfNe:
      return *--number != 0 ? jump() : Next::Advance;
    case Opcode::Assert:
      return *--number ? Next::Advance : Next::AssertionFailed;
    case Opcode::Unreachable:
      return Next::ReachedUnreachable;
    default:
      return Next::Other;
    }
  }

  PTO_INLINE Next calls(Opcode opcode) {
    switch (opcode) {
    case Opcode::Call:
      if (machine.frames.size() >= machine.options.maxCallDepth)
        return Next::TooManyCalls;
      if (--jumpsLeft == 0)
        return Next::TooManyJumps;
      enter(step->a);
      return Next::Jumped;
    case Opcode::Return:
      return leave();
    default:
      return Next::Other;
    }
  }

  PTO_INLINE void enter(uint32_t target) {
    spill();
    machine.frames.push_back({function, uint32_t(step - steps + 1), base});
    function = target;
    base = machine.slotEnd;
    machine.enter(function);
    reload();
    const LoadedFunction &callee = machine.loaded.functions()[function];
    for (size_t i = machine.loaded.module().functions[function].parameters.size(); i-- > 0;) {
      if (callee.slots[i] == Kind::Tensor)
        machine.tensorSlots[base + i] = std::move(machine.tensorStack[--machine.references]);
      else
        slot[i] = *--number;
    }
    step = steps = callee.steps.data();
  }

  /// The results are already on top of the caller's stacks.
  PTO_INLINE Next leave() {
    for (size_t i = base; i < machine.slotEnd; ++i)
      machine.tensorSlots[i].reset();
    machine.slotEnd = base;
    if (machine.frames.empty()) {
      spill();
      return Next::Returned;
    }
    Frame frame = machine.frames.back();
    machine.frames.pop_back();
    function = frame.function;
    base = frame.slots;
    slot = machine.numberSlots.data() + base;
    steps = machine.loaded.functions()[function].steps.data();
    step = steps + frame.next;
    return Next::Jumped;
  }

  /// Kernels, queues, and all instructions on tensors.
  PTO_INLINE Next external(Opcode opcode, Status &status) {
    spill();
    switch (opcode) {
    case Opcode::InvokeStatic:
    case Opcode::Launch:
      status = machine.invoke(*step);
      break;
    case Opcode::WaitQueue:
      status = machine.provider->wait(uint32_t(step->b));
      break;
    case Opcode::Barrier:
      status = machine.provider->barrier();
      break;
    case Opcode::View:
    case Opcode::Reserve:
    case Opcode::Submit:
    case Opcode::Join:
      status = machine.taskStep(*step);
      break;
    default:
      status = machine.tensorStep(*step, base);
      break;
    }
    reload();
    return status ? Next::Advance : Next::Failed;
  }

  [[gnu::cold]] static Status fault(const Machine &machine, Next fault, const Step &step) {
    switch (fault) {
    case Next::DivisionByZero:
      return Failure{"division by zero"};
    case Next::FloatOutOfRange:
      return Failure{"the float does not fit into the integer"};
    case Next::TooManyJumps:
      return Failure{"ran longer than " + std::to_string(machine.options.maxJumps) + " jumps"};
    case Next::TooManyCalls:
      return Failure{"calls are nested deeper than " + std::to_string(machine.options.maxCallDepth)};
    case Next::AssertionFailed:
      return Failure{"assertion failed: " + std::get<TextConstant>(machine.loaded.module().constants[step.a]).text};
    default:
      return Failure{"a place was reached that the program says is never reached"};
    }
  }

  PTO_INLINE void trace() {
    spill();
    ++machine.numInstructions;
    if (step - steps < std::ptrdiff_t(machine.loaded.functions()[function].steps.size()) - 1)
      machine.traceSink(machine.traceLine(function, step - steps, base));
  }

  Machine &machine;
  uint32_t function;
  uint64_t jumpsLeft;
  size_t base = 0; // first slot of the function
  const Step *steps;
  int64_t *slot; // the function's numbers
};

template <bool traced> Status Machine::execute(uint32_t function) { return Interpreter(*this, function).run<traced>(); }
template Status Machine::execute<false>(uint32_t);
template Status Machine::execute<true>(uint32_t);

} // namespace pto_mlir::bytecode
