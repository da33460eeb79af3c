// For code that treats all rows of the instruction table alike.
#ifndef PTO_MLIR_ISA_OPERANDVISITOR_H
#define PTO_MLIR_ISA_OPERANDVISITOR_H

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::isa {

/// A visitor for visitOperands that ignores every operand: derive from it and declare the members for those that
/// matter.
struct OperandVisitor {
  void integer(unsigned, Value &) {}
  void scalar(unsigned, Value &) {}
  void wide(unsigned, int64_t &) {}
  void dst(unsigned, uint8_t &) {}
  void attr(unsigned, uint32_t &, bool) {}
  void tile(unsigned, Tile &) {}
  void view(unsigned, View &) {}
};

/// Where a tile operand of an instruction lies: the only memory that the row names, or what its attribute `space` says.
Memory memoryOf(const DecodedInsn &insn, const OperandInfo &operand);

} // namespace pto_mlir::isa

#endif
