// Instructions on tensors.
#include "FunctionVerifier.h"

namespace pto_mlir::bytecode {

bool FunctionVerifier::tensorType(const Instruction &insn, Step &step, const Type *&type) {
  type = typeOperand(insn);
  if (!type)
    return false;
  if (!type->isTensor)
    return fail("expects a tensor type, got " + typeText(*type));
  step.a = insn.type;
  return popIndices(type->numDynamic());
}

bool FunctionVerifier::element(Type &tensor, Step &step) {
  Type scalar = Type::scalar(tensor.element);
  if (!isValidType(scalar))
    return fail("the VM computes with no element of " + typeText(tensor));
  step.b = tensor.shape.size();
  step.width = elementBits(tensor.element);
  step.kind = scalar.kind();
  tensor = scalar;
  return true;
}

std::optional<bool> FunctionVerifier::tensors(const Instruction &insn, Step &step) {
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
  case Opcode::Reserve:
    if (!tensorType(insn, step, type))
      return false;
    push(*type);
    return true;
  case Opcode::View:
    if (!tensorType(insn, step, type) || !popExactly(i64) || !popKind(Kind::Tensor, a))
      return false;
    if (a.element != type->element)
      return fail("views " + typeText(a) + " as " + typeText(*type));
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

std::optional<bool> FunctionVerifier::elements(const Instruction &insn, Step &step) {
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

bool FunctionVerifier::tensorBelowIndices(size_t above, Type &tensor) {
  for (size_t i = state.stack.size(); i-- > 0;)
    if (state.stack[i].isTensor) {
      tensor = state.stack[i];
      if (state.stack.size() - i - 1 == tensor.shape.size() + above)
        return true;
      break;
    }
  return fail("expects a tensor and one index per dimension");
}

} // namespace pto_mlir::bytecode
