// Visits the operands of a VM instruction: the one place that maps operand letters to fields.
#ifndef PTO_MLIR_BYTECODE_OPERANDS_H
#define PTO_MLIR_BYTECODE_OPERANDS_H

#include "pto_mlir/ByteCode/Code.h"

#include <type_traits>

namespace pto_mlir::bytecode {

/// Tag of an operand's kind, for overloads and `if constexpr`.
template <OperandKind kind> using Operand = std::integral_constant<OperandKind, kind>;

/// Calls visit(Operand<kind>(), field) for each operand of the instruction, in the order of the encoding. `Insn` is
/// Instruction or const Instruction; `visit` must accept every kind.
template <class Insn, class Visitor> void visitOperands(Insn &insn, Visitor &&visit) {
  for (char letter : opcodeRow(insn.opcode).operands)
    switch (static_cast<OperandKind>(letter)) {
#define PTO_VM_OPERAND(LETTER, KIND, FIELD)                                                                            \
  case OperandKind::KIND:                                                                                              \
    visit(Operand<OperandKind::KIND>(), insn.FIELD);                                                                   \
    break;
#include "pto_mlir/ByteCode/Opcodes.def"
    }
}

} // namespace pto_mlir::bytecode

#endif
