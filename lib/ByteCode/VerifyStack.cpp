// Constants, slots and the operand stack.
#include "FunctionVerifier.h"

namespace pto_mlir::bytecode {

bool FunctionVerifier::pop(Type &type) {
  if (state.stack.empty())
    return fail("takes more values than the stack has");
  type = std::move(state.stack.back());
  state.stack.pop_back();
  return true;
}

bool FunctionVerifier::popExactly(const Type &expected) {
  Type type;
  if (!pop(type))
    return false;
  return isRefinedBy(expected, type) ||
         fail("expects " + typeText(expected) + " on the stack, finds " + typeText(type));
}

bool FunctionVerifier::popKind(Kind kind, Type &type) {
  constexpr const char *names[] = {"an integer", "a float", "a tensor", "a task"};
  if (!pop(type))
    return false;
  return type.kind() == kind ||
         fail("expects " + std::string(names[int(kind)]) + " on the stack, finds " + typeText(type));
}

bool FunctionVerifier::popAll(const std::vector<Type> &types) {
  for (size_t i = types.size(); i-- > 0;)
    if (!popExactly(types[i]))
      return false;
  return true;
}

bool FunctionVerifier::popIndices(size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!popExactly(i64))
      return false;
  return true;
}

std::vector<Type> FunctionVerifier::typesOf(const std::vector<uint32_t> &indices) const {
  std::vector<Type> types;
  types.reserve(indices.size());
  for (uint32_t index : indices)
    types.push_back(module.types[index]);
  return types;
}

bool FunctionVerifier::constant(Step &step, const Type &type, int64_t value) {
  step.opcode = Opcode::IConst;
  step.b = value;
  push(type);
  return true;
}

bool FunctionVerifier::access(const SlotAccess &slot, Step &step) {
  if (slot.slot >= function.slots.size())
    return fail("slot " + std::to_string(slot.slot) + " does not exist, the function has " +
                std::to_string(function.slots.size()));
  const Type &type = module.types[function.slots[slot.slot]];
  bool isLoad = slot.family == Opcode::ILoad || slot.family == Opcode::FLoad || slot.family == Opcode::ALoad;
  Kind kind = slot.family == Opcode::ILoad || slot.family == Opcode::IStore   ? Kind::Integer
              : slot.family == Opcode::FLoad || slot.family == Opcode::FStore ? Kind::Float
                                                                              : Kind::Tensor;
  if (type.kind() != kind && !(type.isTask && kind == Kind::Integer))
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

const Type *FunctionVerifier::typeOperand(const Instruction &insn) {
  if (insn.type < module.types.size())
    return &module.types[insn.type];
  fail("type " + std::to_string(insn.type) + " does not exist");
  return nullptr;
}

bool FunctionVerifier::loadConstant(const Instruction &insn, Step &step) {
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

std::optional<bool> FunctionVerifier::constants(const Instruction &insn, Step &step) {
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

std::optional<bool> FunctionVerifier::stack(const Instruction &insn, Step &step) {
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

} // namespace pto_mlir::bytecode
