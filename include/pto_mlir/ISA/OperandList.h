//===- OperandList.h - The tiles and views of an instruction ----------------===//
//
// For code that handles all rows of the table generically.
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
  const View *indexView = nullptr; // the second view, for rows that have two

  /// Holds pointers into `insn`.
  explicit OperandList(const DecodedInsn &insn);

  const OperandInfo &operand(unsigned tile) const { return info.operands[tileOperand[tile]]; }
  bool isWritten(unsigned tile) const { return operand(tile).direction != Direction::In; }
  /// The first tile, and the first tile that is only read (or the first tile if there is none).
  const Tile &dstTile() const { return *tiles[0]; }
  const Tile &srcTile() const;

  // --- for visitOperands ---
  void tile(unsigned k, Tile &t) {
    tiles[numTiles] = &t;
    tileOperand[numTiles++] = k;
  }
  void view(unsigned, View &v) { (globalView ? indexView : globalView) = &v; }
};

/// Replaces register operands of `insn` by their contents.
void resolveRegisters(DecodedInsn &insn, const int64_t *registers);

/// Whether the instruction only computes on registers or controls its stream: no memory access, no synchronisation.
bool isPlainScalar(Opcode opcode);

} // namespace pto_mlir::isa

#endif
