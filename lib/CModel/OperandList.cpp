#include "OperandList.h"

namespace pto_mlir::cmodel {

OperandList::OperandList(const isa::DecodedInsn &insn) : info(isa::infoOf(insn.opcode)) {
  isa::visit(insn,
             [&](const auto &typed) { isa::visitOperands(const_cast<std::decay_t<decltype(typed)> &>(typed), *this); });
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
  case isa::Opcode::CrossSet:
  case isa::Opcode::CrossWait:
    return false;
  default:
    return isa::infoOf(opcode).pipe == isa::Pipe::ALL;
  }
}

} // namespace pto_mlir::cmodel
