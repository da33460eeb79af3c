// Abstract interpretation of one function: types on the stack, initialised slots.
#include "VerifyFunction.h"

#include <algorithm>
#include <optional>

namespace pto_mlir::bytecode {

namespace {

constexpr size_t kMaxDepth = 4096, kMaxStates = 1 << 22;

bool isBranch(Opcode opcode) { return opcode == Opcode::Goto || opcode == Opcode::IfEq || opcode == Opcode::IfNe; }

/// The abstract state before an instruction.
struct State {
  std::vector<Type> stack;
  std::vector<bool> written;
};

const Type i1 = Type::scalar(ElementType::Boolean), i32 = Type::scalar(ElementType::I32),
           i64 = Type::scalar(ElementType::I64);

class FunctionVerifier {
public:
  FunctionVerifier(const Module &module, const Function &function, uint32_t &at)
      : module(module), function(function), at(at) {}

  Result<LoadedFunction> run() {
    auto decoded = decodeAll(function.code);
    if (!decoded)
      return decoded.failure();
    code = decoded.take();
    for (size_t i = 0; i < function.debug.size(); ++i)
      if (function.debug[i].instruction >= code.size() ||
          (i && function.debug[i - 1].instruction > function.debug[i].instruction))
        return Failure{"debug entry " + std::to_string(i) +
                       " belongs to no instruction, or stands before an earlier one"};
    for (uint32_t type : function.slots)
      loaded.slots.push_back(module.types[type].kind());
    // Instructions not reached by any path become Unreachable.
    loaded.steps.assign(code.size() + 1, Step{Opcode::Unreachable});
    before.resize(code.size() + 1);
    isTarget.assign(code.size() + 1, false);
    isTarget[code.size()] = true;
    for (const Instruction &insn : code)
      if (isBranch(insn.opcode) && insn.index < code.size())
        isTarget[insn.index] = true;
    State start;
    start.written.assign(function.slots.size(), false);
    std::fill_n(start.written.begin(), function.parameters.size(), true);
    if (!flow(0, start))
      return Failure{failure};
    while (!pending.empty()) {
      at = pending.back();
      pending.pop_back();
      if (!visit(at))
        return Failure{failure};
    }
    return std::move(loaded);
  }

private:
  bool fail(const std::string &message) {
    failure = message;
    return false;
  }

  /// Propagates the state to instruction `target`: joins it with the state there.
  bool flow(uint32_t target, const State &from) {
    if (target > code.size())
      return fail("branches to instruction " + std::to_string(target) + ", the function has " +
                  std::to_string(code.size()));
    if (target == code.size() && (!function.results.empty() || !from.stack.empty()))
      return fail("the function ends without return");
    std::optional<State> &known = before[target];
    if (!known) {
      budget += 1 + from.stack.size() + from.written.size() / 64;
      if (budget > kMaxStates)
        return fail("the function is too large");
      known = from;
      pending.push_back(target);
      return true;
    }
    if (known->stack != from.stack)
      return fail("instruction " + std::to_string(target) + " is reached with different stacks");
    bool changed = false;
    for (size_t i = 0; i < known->written.size(); ++i)
      if (known->written[i] && !from.written[i]) {
        known->written[i] = false;
        changed = true;
      }
    if (changed)
      pending.push_back(target);
    return true;
  }

  bool pop(Type &type) {
    if (state.stack.empty())
      return fail("takes more values than the stack has");
    type = std::move(state.stack.back());
    state.stack.pop_back();
    return true;
  }
  bool popExactly(const Type &expected) {
    Type type;
    if (!pop(type))
      return false;
    return isRefinedBy(expected, type) ||
           fail("expects " + typeText(expected) + " on the stack, finds " + typeText(type));
  }
  bool popKind(Kind kind, Type &type) {
    constexpr const char *names[] = {"an integer", "a float", "a tensor"};
    if (!pop(type))
      return false;
    return type.kind() == kind ||
           fail("expects " + std::string(names[int(kind)]) + " on the stack, finds " + typeText(type));
  }
  /// Pops several values, the last one on top.
  bool popAll(const std::vector<Type> &types) {
    for (size_t i = types.size(); i-- > 0;)
      if (!popExactly(types[i]))
        return false;
    return true;
  }
  bool popIndices(size_t count) {
    for (size_t i = 0; i < count; ++i)
      if (!popExactly(i64))
        return false;
    return true;
  }
  void push(Type type) { state.stack.push_back(std::move(type)); }
  std::vector<Type> typesOf(const std::vector<uint32_t> &indices) const {
    std::vector<Type> types;
    types.reserve(indices.size());
    for (uint32_t index : indices)
      types.push_back(module.types[index]);
    return types;
  }

  void noteDepth() {
    uint32_t numbers = 0, tensors = 0;
    for (const Type &type : state.stack)
      ++(type.isTensor ? tensors : numbers);
    loaded.numberDepth = std::max(loaded.numberDepth, numbers);
    loaded.tensorDepth = std::max(loaded.tensorDepth, tensors);
  }

  /// Interprets the instructions from `index`, whose state is known, up to the next join point.
  bool visit(uint32_t index) {
    state = *before[index];
    while (true) {
      at = index;
      Step &step = loaded.steps[index];
      step = Step();
      if (index == code.size()) {
        step.opcode = Opcode::Return;
        return true;
      }
      step.opcode = code[index].opcode;
      Opcode opcode = code[index].opcode;
      if (!apply(code[index], step))
        return false;
      if (state.stack.size() > kMaxDepth)
        return fail("the stack is deeper than " + std::to_string(kMaxDepth));
      noteDepth();
      if (!fallsThrough(opcode))
        return true;
      ++index;
      if (isTarget[index])
        return flow(index, state);
    }
  }

  bool constant(Step &step, const Type &type, int64_t value) {
    step.opcode = Opcode::IConst;
    step.b = value;
    push(type);
    return true;
  }

  bool access(const SlotAccess &slot, Step &step) {
    if (slot.slot >= function.slots.size())
      return fail("slot " + std::to_string(slot.slot) + " does not exist, the function has " +
                  std::to_string(function.slots.size()));
    const Type &type = module.types[function.slots[slot.slot]];
    bool isLoad = slot.family == Opcode::ILoad || slot.family == Opcode::FLoad || slot.family == Opcode::ALoad;
    Kind kind = slot.family == Opcode::ILoad || slot.family == Opcode::IStore   ? Kind::Integer
                : slot.family == Opcode::FLoad || slot.family == Opcode::FStore ? Kind::Float
                                                                                : Kind::Tensor;
    if (type.kind() != kind)
      return fail("slot " + std::to_string(slot.slot) + " holds " + typeText(type));
    step.opcode = slot.family;
    step.a = slot.slot;
    if (isLoad) {
      if (!state.written[slot.slot])
        return fail("reads slot " + std::to_string(slot.slot) + ", which not every path has written");
      push(type);
      return true;
    }
    state.written[slot.slot] = true;
    return popExactly(type);
  }

  bool integerBinary(Step &step) {
    Type right, left;
    if (!popKind(Kind::Integer, right) || !popKind(Kind::Integer, left))
      return false;
    if (left != right)
      return fail("takes two integers of one type, finds " + typeText(left) + " and " + typeText(right));
    bool isBitwise = step.opcode == Opcode::IAnd || step.opcode == Opcode::IOr || step.opcode == Opcode::IXor ||
                     step.opcode == Opcode::ICmp;
    if (left == i1 && !isBitwise)
      return fail("computes with i8 to i64; i1 has iand, ior, ixor and icmp");
    step.width = left.width();
    push(left);
    return true;
  }

  bool floatBinary(Step &step) {
    Type right, left;
    if (!popKind(Kind::Float, right) || !popKind(Kind::Float, left))
      return false;
    if (left != right)
      return fail("takes two floats of one type, finds " + typeText(left) + " and " + typeText(right));
    step.width = left.width();
    push(left);
    return true;
  }

  bool compare(const Instruction &insn, Step &step, int64_t predicates) {
    if (insn.value >= predicates)
      return fail("predicate " + std::to_string(insn.value) + " does not exist");
    step.b = insn.value;
    return true;
  }

  const Type *typeOperand(const Instruction &insn) {
    if (insn.type < module.types.size())
      return &module.types[insn.type];
    fail("type " + std::to_string(insn.type) + " does not exist");
    return nullptr;
  }

  bool loadConstant(const Instruction &insn, Step &step) {
    if (insn.index >= module.constants.size())
      return fail("constant " + std::to_string(insn.index) + " does not exist");
    const Constant &value = module.constants[insn.index];
    step.a = insn.index;
    if (auto *scalar = std::get_if<ScalarConstant>(&value); scalar && insn.typeCode == uint8_t(TypeCode::Scalar))
      return constant(step, module.types[scalar->type], int64_t(scalar->bits));
    if (auto *tensor = std::get_if<TensorConstant>(&value); tensor && insn.typeCode == uint8_t(TypeCode::Tensor)) {
      push(module.types[tensor->type]);
      return true;
    }
    return fail("constant " + std::to_string(insn.index) + " is not a " +
                (insn.typeCode == uint8_t(TypeCode::Scalar) ? "scalar" : "tensor"));
  }

  bool invoke(const Instruction &insn, Step &step) {
    if (insn.index >= module.constants.size() || !std::holds_alternative<KernelKey>(module.constants[insn.index]))
      return fail("constant " + std::to_string(insn.index) + " is not a kernel");
    const auto &key = std::get<KernelKey>(module.constants[insn.index]);
    step.a = insn.index;
    step.b = insn.value;
    if (!popAll(key.operands))
      return false;
    for (const Type &type : key.results)
      push(type);
    return true;
  }

  bool tensorType(const Instruction &insn, Step &step, const Type *&type) {
    type = typeOperand(insn);
    if (!type)
      return false;
    if (!type->isTensor)
      return fail("expects a tensor type, got " + typeText(*type));
    step.a = insn.type;
    return popIndices(type->numDynamic());
  }

  bool element(Type &tensor, Step &step) {
    Type scalar = Type::scalar(tensor.element);
    if (!isValidType(scalar))
      return fail("the VM computes with no element of " + typeText(tensor));
    step.b = tensor.shape.size();
    step.width = elementBits(tensor.element);
    step.kind = scalar.kind();
    tensor = scalar;
    return true;
  }

  /// One instruction's effect on the state. The groups give nullopt for an opcode that is not theirs.
  bool apply(const Instruction &insn, Step &step) {
    if (auto slot = slotAccess(insn))
      return access(*slot, step);
    for (auto group : {&FunctionVerifier::constants, &FunctionVerifier::stack, &FunctionVerifier::arithmetic,
                       &FunctionVerifier::control, &FunctionVerifier::calls, &FunctionVerifier::tensors,
                       &FunctionVerifier::elements})
      if (std::optional<bool> good = (this->*group)(insn, step))
        return *good;
    return fail("is an instruction of a net's program");
  }

  /// Whether the next instruction is a successor.
  static bool fallsThrough(Opcode opcode) {
    return opcode != Opcode::Goto && opcode != Opcode::Unreachable && opcode != Opcode::Return;
  }

  std::optional<bool> constants(const Instruction &insn, Step &step) {
    switch (insn.opcode) {
    case Opcode::IConstM1:
    case Opcode::IConst0:
    case Opcode::IConst1:
    case Opcode::IConst2:
    case Opcode::IConst3:
    case Opcode::IConst4:
    case Opcode::IConst5:
      return constant(step, i32, int64_t(insn.opcode) - int64_t(Opcode::IConst0));
    case Opcode::IConst: {
      const Type *type = typeOperand(insn);
      if (!type)
        return false;
      if (type->kind() != Kind::Integer || !fitsWidth(insn.value, type->width()))
        return fail(std::to_string(insn.value) + " is not a value of type " + typeText(*type));
      return constant(step, *type, insn.value);
    }
    case Opcode::Ldc:
      return loadConstant(insn, step);
    default:
      return std::nullopt;
    }
  }

  std::optional<bool> stack(const Instruction &insn, Step &step) {
    Type a, b;
    switch (insn.opcode) {
    case Opcode::Pop:
    case Opcode::Dup:
      if (!pop(a))
        return false;
      step.kind = a.kind();
      for (int i = 0; insn.opcode == Opcode::Dup && i < 2; ++i)
        push(a);
      return true;
    case Opcode::Swap:
      if (!pop(a) || !pop(b))
        return false;
      step.kind = a.kind();
      step.kind2 = b.kind();
      push(a);
      push(b);
      return true;
    case Opcode::Select:
      if (!pop(b) || !pop(a))
        return false;
      if (a != b)
        return fail("selects between " + typeText(a) + " and " + typeText(b));
      step.kind = a.kind();
      if (!popExactly(i1))
        return false;
      push(a);
      return true;
    default:
      return std::nullopt;
    }
  }

  /// A comparison: operands as of the arithmetic, the result i1.
  bool comparison(const Instruction &insn, Step &step, int64_t predicates, bool (FunctionVerifier::*operands)(Step &)) {
    if (!compare(insn, step, predicates) || !(this->*operands)(step))
      return false;
    state.stack.back() = i1;
    return true;
  }

  bool conversion(const Instruction &insn, Step &step) {
    Type from;
    const Type *to = typeOperand(insn);
    if (!to || !pop(from))
      return false;
    if (to->isTensor || from.isTensor)
      return fail("converts numbers, not " + typeText(from) + " to " + typeText(*to));
    step.kind = from.kind();
    step.kind2 = to->kind();
    step.width = to->width();
    step.b = from.width();
    push(*to);
    return true;
  }

  std::optional<bool> arithmetic(const Instruction &insn, Step &step) {
    Type a;
    switch (insn.opcode) {
    case Opcode::IAdd:
    case Opcode::ISub:
    case Opcode::IMul:
    case Opcode::IDiv:
    case Opcode::IRem:
    case Opcode::IDivU:
    case Opcode::IRemU:
    case Opcode::IFloorDiv:
    case Opcode::ICeilDiv:
    case Opcode::IMin:
    case Opcode::IMax:
    case Opcode::IMinU:
    case Opcode::IMaxU:
    case Opcode::IAnd:
    case Opcode::IOr:
    case Opcode::IXor:
    case Opcode::IShl:
    case Opcode::IShr:
    case Opcode::IShrU:
      return integerBinary(step);
    case Opcode::ICmp:
      return comparison(insn, step, 10, &FunctionVerifier::integerBinary);
    case Opcode::FAdd:
    case Opcode::FSub:
    case Opcode::FMul:
    case Opcode::FDiv:
    case Opcode::FRem:
    case Opcode::FMin:
    case Opcode::FMax:
      return floatBinary(step);
    case Opcode::FNeg:
      if (!popKind(Kind::Float, a))
        return false;
      push(a);
      return true;
    case Opcode::FCmp:
      return comparison(insn, step, 16, &FunctionVerifier::floatBinary);
    case Opcode::Conv:
    case Opcode::ConvU:
      return conversion(insn, step);
    default:
      return std::nullopt;
    }
  }

  std::optional<bool> control(const Instruction &insn, Step &step) {
    Type a;
    switch (insn.opcode) {
    case Opcode::Nop:
    case Opcode::Barrier:
    case Opcode::Unreachable:
      return true;
    case Opcode::WaitQueue:
      step.b = insn.value;
      return true;
    case Opcode::Goto:
      step.a = insn.index;
      return flow(insn.index, state);
    case Opcode::IfEq:
    case Opcode::IfNe:
      step.a = insn.index;
      return popKind(Kind::Integer, a) && flow(insn.index, state);
    case Opcode::Assert:
      if (insn.index >= module.constants.size() || !std::holds_alternative<TextConstant>(module.constants[insn.index]))
        return fail("constant " + std::to_string(insn.index) + " is not a text");
      step.a = insn.index;
      return popExactly(i1);
    default:
      return std::nullopt;
    }
  }

  std::optional<bool> calls(const Instruction &insn, Step &step) {
    switch (insn.opcode) {
    case Opcode::InvokeStatic:
    case Opcode::Launch:
      return invoke(insn, step);
    case Opcode::Call: {
      if (insn.index >= module.functions.size())
        return fail("function " + std::to_string(insn.index) + " does not exist");
      step.a = insn.index;
      const Function &callee = module.functions[insn.index];
      if (!popAll(typesOf(callee.parameters)))
        return false;
      for (Type &result : typesOf(callee.results))
        push(std::move(result));
      return true;
    }
    case Opcode::Return:
      if (!popAll(typesOf(function.results)))
        return false;
      return state.stack.empty() ||
             fail("returns with " + std::to_string(state.stack.size()) + " more values on the stack");
    default:
      return std::nullopt;
    }
  }

  /// Instructions on whole tensors.
  std::optional<bool> tensors(const Instruction &insn, Step &step) {
    Type a;
    const Type *type = nullptr;
    switch (insn.opcode) {
    case Opcode::NewTensor:
      if (!tensorType(insn, step, type))
        return false;
      push(*type);
      return true;
    case Opcode::Reshape:
      if (!tensorType(insn, step, type) || !popKind(Kind::Tensor, a))
        return false;
      if (a.element != type->element)
        return fail("reshapes " + typeText(a) + " to another element type");
      push(*type);
      return true;
    case Opcode::Cast:
      type = typeOperand(insn);
      if (!type || !popKind(Kind::Tensor, a))
        return false;
      if (!type->isTensor || a.element != type->element || a.shape.size() != type->shape.size())
        return fail("casts " + typeText(a) + " to " + typeText(*type));
      step.a = insn.type;
      push(*type);
      return true;
    case Opcode::Drop:
      if (insn.slot >= function.slots.size() || !module.types[function.slots[insn.slot]].isTensor ||
          !state.written[insn.slot])
        return fail("slot " + std::to_string(insn.slot) + " holds no tensor");
      state.written[insn.slot] = false;
      step.a = insn.slot;
      return true;
    default:
      return std::nullopt;
    }
  }

  /// Instructions on a tensor's extents and elements.
  std::optional<bool> elements(const Instruction &insn, Step &step) {
    Type a, b;
    switch (insn.opcode) {
    case Opcode::Dim:
      if (!popKind(Kind::Tensor, a))
        return false;
      if (uint64_t(insn.value) >= a.shape.size())
        return fail("dimension " + std::to_string(insn.value) + " of " + typeText(a) + " does not exist");
      step.a = insn.value;
      push(i64);
      return true;
    case Opcode::TLoad:
      // The rank, and so the number of indices, follows from the tensor below them.
      if (!tensorBelowIndices(0, a) || !popIndices(a.shape.size()) || !pop(b) || !element(a, step))
        return false;
      push(a);
      return true;
    case Opcode::TStore:
      if (!tensorBelowIndices(1, a))
        return false;
      b = a;
      return element(b, step) && popExactly(b) && popIndices(a.shape.size()) && pop(a);
    case Opcode::TCopy:
      if (!popKind(Kind::Tensor, a) || !popKind(Kind::Tensor, b))
        return false;
      return a.element == b.element || fail("copies " + typeText(a) + " into " + typeText(b));
    default:
      return std::nullopt;
    }
  }

  /// Finds the topmost tensor on the stack, below `above` other values and its indices.
  bool tensorBelowIndices(size_t above, Type &tensor) {
    for (size_t i = state.stack.size(); i-- > 0;)
      if (state.stack[i].isTensor) {
        tensor = state.stack[i];
        if (state.stack.size() - i - 1 == tensor.shape.size() + above)
          return true;
        break;
      }
    return fail("expects a tensor and one index per dimension");
  }

  const Module &module;
  const Function &function;
  uint32_t &at;
  std::vector<Instruction> code;
  std::vector<std::optional<State>> before;
  std::vector<bool> isTarget; // branch targets, and the end
  std::vector<uint32_t> pending;
  size_t budget = 0; // bounds the memory of the stored states for untrusted functions
  State state;
  LoadedFunction loaded;
  std::string failure;
};

} // namespace

Result<LoadedFunction> verifyFunction(const Module &module, const Function &function, uint32_t &at) {
  return FunctionVerifier(module, function, at).run();
}

} // namespace pto_mlir::bytecode
