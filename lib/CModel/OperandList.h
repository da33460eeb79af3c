// The tiles and the view of one instruction, by position: for code that treats all rows of the table alike.
#ifndef PTO_MLIR_CMODEL_OPERANDLIST_H
#define PTO_MLIR_CMODEL_OPERANDLIST_H

#include "pto_mlir/ISA/OperandVisitor.h"

namespace pto_mlir::cmodel {

struct OperandList : isa::OperandVisitor {
  const isa::InsnInfo &info;
  const isa::Tile *tiles[6];
  unsigned tileOperand[6], numTiles = 0;
  const isa::View *globalView = nullptr;
  const isa::View *indexView = nullptr; // the second view of a row that has two

  /// Points into `insn`.
  explicit OperandList(const isa::DecodedInsn &insn);

  bool isRead(unsigned tile) const { return info.operands[tileOperand[tile]].direction != isa::Direction::Out; }
  bool isWritten(unsigned tile) const { return info.operands[tileOperand[tile]].direction != isa::Direction::In; }

  // --- for visitOperands ---
  void tile(unsigned k, isa::Tile &t) {
    tiles[numTiles] = &t;
    tileOperand[numTiles++] = k;
  }
  void view(unsigned, isa::View &v) { (globalView ? indexView : globalView) = &v; }
};

/// `insn` with its registers read.
void resolveRegisters(isa::DecodedInsn &insn, const int64_t *registers);

/// Does the instruction only compute with registers or steer its stream? Those touch no memory and order nothing.
bool isPlainScalar(isa::Opcode opcode);

} // namespace pto_mlir::cmodel

#endif
