// A base class of operand visitors, for code that handles all rows of the instruction table generically.
#ifndef PTO_MLIR_ISA_OPERANDVISITOR_H
#define PTO_MLIR_ISA_OPERANDVISITOR_H

#include "pto_mlir/ISA/Codec.h"

namespace pto_mlir::isa {

/// A visitor for visitOperands that ignores every operand. Derive from it and hide the members for the operands of
/// interest.
struct OperandVisitor {
  void integer(unsigned, Value &) {}
  void scalar(unsigned, Value &) {}
  void wide(unsigned, int64_t &) {}
  void dst(unsigned, uint8_t &) {}
  void attr(unsigned, uint32_t &, bool) {}
  void tile(unsigned, Tile &) {}
  void view(unsigned, View &) {}
};

/// The memory of a tile operand: the only one that the row allows, or the one given by its attribute `space`.
Memory memoryOf(const DecodedInsn &insn, const OperandInfo &operand);

} // namespace pto_mlir::isa

#endif
