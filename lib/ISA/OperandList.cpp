#include "pto_mlir/ISA/OperandList.h"

namespace pto_mlir::isa {

OperandList::OperandList(const DecodedInsn &insn) : info(infoOf(insn.opcode)) {
  visit(insn, [&](const auto &typed) { visitOperands(const_cast<std::decay_t<decltype(typed)> &>(typed), *this); });
}

const Tile &OperandList::srcTile() const {
  for (unsigned i = 0; i < numTiles; ++i)
    if (!isWritten(i))
      return *tiles[i];
  return *tiles[0];
}

void resolveRegisters(DecodedInsn &insn, const int64_t *registers) {
  if (insn.registerMask)
    visit(insn, [&](auto &typed) { resolve(typed, [&](unsigned number) { return registers[number]; }); });
}

bool isPlainScalar(Opcode opcode) {
  switch (opcode) {
  case Opcode::LoadScalar:
  case Opcode::SetFlag:
  case Opcode::WaitFlag:
  case Opcode::Push:
  case Opcode::Pop:
  case Opcode::CrossSet:
  case Opcode::CrossWait:
    return false;
  default:
    return infoOf(opcode).pipe == Pipe::ALL;
  }
}

} // namespace pto_mlir::isa
