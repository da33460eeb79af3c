// Arithmetic, comparisons and conversions.
#include "FunctionVerifier.h"

namespace pto_mlir::bytecode {

bool FunctionVerifier::integerBinary(Step &step) {
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

bool FunctionVerifier::floatBinary(Step &step) {
  Type right, left;
  if (!popKind(Kind::Float, right) || !popKind(Kind::Float, left))
    return false;
  if (left != right)
    return fail("takes two floats of one type, finds " + typeText(left) + " and " + typeText(right));
  step.width = left.width();
  push(left);
  return true;
}

bool FunctionVerifier::compare(const Instruction &insn, Step &step, int64_t predicates) {
  if (insn.value >= predicates)
    return fail("predicate " + std::to_string(insn.value) + " does not exist");
  step.b = insn.value;
  return true;
}

bool FunctionVerifier::comparison(const Instruction &insn, Step &step, int64_t predicates,
                                  bool (FunctionVerifier::*operands)(Step &)) {
  if (!compare(insn, step, predicates) || !(this->*operands)(step))
    return false;
  state.stack.back() = i1;
  return true;
}

bool FunctionVerifier::conversion(const Instruction &insn, Step &step) {
  Type from;
  const Type *to = typeOperand(insn);
  if (!to || !pop(from))
    return false;
  if (to->isTensor || from.isTensor || to->isTask || from.isTask)
    return fail("converts numbers, not " + typeText(from) + " to " + typeText(*to));
  step.kind = from.kind();
  step.kind2 = to->kind();
  step.width = to->width();
  step.b = from.width();
  push(*to);
  return true;
}

std::optional<bool> FunctionVerifier::arithmetic(const Instruction &insn, Step &step) {
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

} // namespace pto_mlir::bytecode
