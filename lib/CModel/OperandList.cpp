#include "OperandList.h"

#include <bit>

namespace pto_mlir::cmodel {

OperandList::OperandList(const isa::DecodedInsn &insn) : info(isa::infoOf(insn.opcode)) {
  isa::visit(insn, [&](const auto &typed) { isa::visitOperands(const_cast<std::decay_t<decltype(typed)> &>(typed), *this); });
}

isa::Memory memoryOf(const isa::DecodedInsn &insn, const isa::OperandInfo &operand) {
  if (operand.memories & (operand.memories - 1)) {
    if (insn.opcode == isa::Opcode::TLoad)
      return insn.as<isa::TLoad>().space;
    if (insn.opcode == isa::Opcode::TStore)
      return insn.as<isa::TStore>().space;
  }
  return isa::Memory(std::countr_zero(operand.memories));
}

void resolveRegisters(isa::DecodedInsn &insn, const int64_t *registers) {
  if (insn.registerMask)
    isa::visit(insn, [&](auto &typed) { isa::resolve(typed, [&](unsigned number) { return registers[number]; }); });
}

bool isPlainScalar(isa::Opcode opcode) {
  switch (opcode) {
  case isa::Opcode::LoadScalar:
  case isa::Opcode::SetFlag:
  case isa::Opcode::WaitFlag:
  case isa::Opcode::Push:
  case isa::Opcode::Pop:
    return false;
  default:
    return isa::infoOf(opcode).pipe == isa::Pipe::ALL;
  }
}

} // namespace pto_mlir::cmodel
