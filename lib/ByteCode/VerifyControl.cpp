// Branches, calls of functions and kernels.
#include "FunctionVerifier.h"

namespace pto_mlir::bytecode {

bool FunctionVerifier::invoke(const Instruction &insn, Step &step) {
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

bool FunctionVerifier::popTasks(const Instruction &insn, Step &step) {
  step.b = insn.value;
  for (int64_t i = 0; i < insn.value; ++i)
    if (!popExactly(Type::task()))
      return false;
  return true;
}

bool FunctionVerifier::submit(const Instruction &insn, Step &step) {
  auto *key = insn.index < module.constants.size() ? std::get_if<KernelKey>(&module.constants[insn.index]) : nullptr;
  if (!key)
    return fail("constant " + std::to_string(insn.index) + " is not a kernel");
  if (key->place() != "device" || !key->results.empty() || !directionsOf(*key))
    return fail("@" + key->callee +
                " is not submitted: expects @device, no results, and the attribute \"directions\" with in, "
                "out, inout or none for each tensor");
  if (isRanked(*key) && (key->operands.empty() || key->operands.back() != Type::scalar(ElementType::I64)))
    return fail("@" + key->callee + " is ranked, but its last operand is no i64, the number of the device");
  step.a = insn.index;
  return popTasks(insn, step) && popAll(key->operands);
}

std::optional<bool> FunctionVerifier::control(const Instruction &insn, Step &step) {
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

std::optional<bool> FunctionVerifier::calls(const Instruction &insn, Step &step) {
  switch (insn.opcode) {
  case Opcode::InvokeStatic:
  case Opcode::Launch:
    return invoke(insn, step);
  case Opcode::Submit:
    if (!submit(insn, step))
      return false;
    push(Type::task());
    return true;
  case Opcode::Join:
    if (!popTasks(insn, step))
      return false;
    push(Type::task());
    return true;
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

} // namespace pto_mlir::bytecode
