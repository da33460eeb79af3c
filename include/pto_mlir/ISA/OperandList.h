//===- OperandList.h - The tiles and views of an instruction ----------------===//
//
// For code that treats all rows of the table alike.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_OPERANDLIST_H
#define PTO_MLIR_ISA_OPERANDLIST_H

#include "pto_mlir/ISA/OperandVisitor.h"

namespace pto_mlir::isa {

/// The tiles and views of one instruction, by position.
struct OperandList : OperandVisitor {
  const InsnInfo &info;
  const Tile *tiles[6];
  unsigned tileOperand[6], numTiles = 0;
  const View *globalView = nullptr;
  const View *indexView = nullptr; // the second view of a row that has two

  /// Points into `insn`.
  explicit OperandList(const DecodedInsn &insn);

  const OperandInfo &operand(unsigned tile) const { return info.operands[tileOperand[tile]]; }
  bool isWritten(unsigned tile) const { return operand(tile).direction != Direction::In; }
  /// The first tile, and the first one that is only read (the first, where there is none).
  const Tile &dstTile() const { return *tiles[0]; }
  const Tile &srcTile() const;

  // --- for visitOperands ---
  void tile(unsigned k, Tile &t) {
    tiles[numTiles] = &t;
    tileOperand[numTiles++] = k;
  }
  void view(unsigned, View &v) { (globalView ? indexView : globalView) = &v; }
};

/// `insn` with its registers read.
void resolveRegisters(DecodedInsn &insn, const int64_t *registers);

/// Does the instruction only compute with registers or steer its stream? Those touch no memory and order nothing.
bool isPlainScalar(Opcode opcode);

} // namespace pto_mlir::isa

#endif
