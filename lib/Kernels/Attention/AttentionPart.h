//===- AttentionPart.h - what both functions of a kernel share --*- C++ -*-===//
//
// Both kinds of core go through the same units and tiles:
//
//   for (unit of rows of Q)                           shared among the blocks
//     ahead(0 .. 2);  for t >= 3: ahead(t), behind(t - 3);  the last behind
//
// where the cube core is ahead with scores and behind with sums, the vector
// cores ahead with weights and behind with the gathering of sums.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTIONPART_H
#define PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTIONPART_H

#include "Attention.h"

namespace pto_mlir::attention {

using cube::Emitter;
using cube::Ix;

class AttentionPart {
public:
  AttentionPart(mlir::func::FuncOp func, const Attention &attention, const AttentionTiling &tiling, const Rings &rings,
                int64_t cores);

protected:
  using Step = llvm::function_ref<void(Ix)>;
  /// This block's units, one after the other.
  void forUnits(llvm::function_ref<void()> body);
  /// The tiles of the unit, in the order above.
  void forTiles(Step ahead, Step behind);
  /// for (i = first; i < end; ++i), no loop where at most one trip is known.
  void each(Ix first, Ix end, Step body);
  /// Unit number `index` in the order in which blocks take them.
  Ix unitOf(Ix index);
  /// `body` unless `count` is 0; always where `sure` says that it is not.
  void unlessZero(Ix count, bool sure, llvm::function_ref<void()> body);
  /// Elements of part `number` of `size` of what has `whole`.
  Ix partExtent(Ix whole, int64_t number, int64_t size);
  /// `tile` with that valid part; itself where that is its box.
  mlir::Value valid(mlir::Value tile, Ix rows, Ix columns);
  mlir::Value alloc(pto::TileBufType type) {
    return e.tile(type, e.constant(type.getRows()), e.constant(type.getCols()));
  }
  /// Keys of a tile of the unit.
  Ix keysOf(Ix tile);
  /// Has each tile more than `keys` keys?
  bool alwaysMoreKeys(int64_t keys) const {
    return !a.lengths && a.problem.keys - (t.tiles(a.problem) - 1) * t.keys > keys;
  }

  Emitter e;
  const Attention &a;
  const AttentionTiling &t;
  const Rings &rings;
  Ix block;              ///< number of this block
  Ix head, row, rows;    ///< of the unit: its head among those of all batches, its first row, and how many
  Ix length, offset;     ///< keys of its batch, and the place of the head's first row among them
  Ix firstTile, endTile; ///< that the unit sees

private:
  void enterUnit(Ix unit);
};

} // namespace pto_mlir::attention

#endif // PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTIONPART_H
