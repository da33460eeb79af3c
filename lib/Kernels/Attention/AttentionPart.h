//===- AttentionPart.h - what both functions of a kernel share --*- C++ -*-===//
//
// Both kinds of core go through the same units and tiles of a block:
//
//   for (unit of rows of Q, and once more; each of one or two strips)
//     for (s = 0 .. 2)  ahead(tile s), behind(the last three of the unit before); fewer where no unit has three
//     finish(the unit before)
//     for (s = 3 ..)    ahead(tile s), behind(tile s - 3)
//
// where the cube core is ahead with scores and behind with sums, the vector
// cores ahead with weights and behind with the gathering of sums. Tiles
// of all units take the slots in turn where each unit has as many; else units take two sets of slots in turn. Strips
// have slots of their own. A slot is free again when its turn comes, because what is ahead of a tile follows what is
// behind the one that had the slot.
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
  virtual ~AttentionPart() = default;
  AttentionPart(mlir::func::FuncOp func, const Attention &attention, const AttentionTiling &tiling, const Rings &rings,
                int64_t cores);

protected:
  /// The units of this block.
  void forUnits();
  /// What a loop over tiles begins with: tiles of its own, which it uses in turn.
  virtual void enterLoop(bool main) {}
  /// What comes before the loop of `both`, whose first tile is `tile` (a number of the unit's where it has no trip).
  virtual void beforeBoth(Ix tile) {}
  /// What comes before a unit's first tile, of each tile, and after the last one. `u` is the unit.
  virtual void begin() = 0;
  virtual void ahead(Ix tile) = 0;
  virtual void behind(Ix tile) = 0;
  /// `ahead` of one tile of a unit, `behind` of another one.
  virtual void both(Ix first, Ix second) { ahead(first), behind(second); }
  virtual void finish() = 0;
  /// `body` with each strip of the unit as `u`, in a loop.
  void forStrips(llvm::function_ref<void()> body);
  /// The same one after another.
  void forEachStrip(llvm::function_ref<void(int64_t)> body);
  /// Unit number `index` in the order in which blocks take them.
  Ix unitOf(Ix index);
  /// `body` unless `count` is 0; always where `sure` says that it is not.
  void unlessZero(Ix count, bool sure, llvm::function_ref<void()> body);
  /// Elements of part `number` of `size` of what has `whole`.
  Ix partExtent(Ix whole, int64_t number, int64_t size);
  /// `tile` with that valid part; itself where that is its box.
  mlir::Value valid(mlir::Value tile, Ix rows, Ix columns) { return e.valid(tile, rows, columns); }
  mlir::Value alloc(pto::TileBufType type) {
    return e.tile(type, e.constant(type.getRows()), e.constant(type.getCols()));
  }
  /// A tile with so many buffers, which trips of the loop take in turn.
  mlir::Value alloc(int32_t buffers, pto::TileBufType type);
  /// Where the unit's tile is in a ring.
  Ix place(Ix tile) {
    Ix slot = t.sets > 1 ? e.add(e.mul(u.turn, kSlots), e.rem(tile, kSlots)) : e.rem(e.add(u.before, tile), kSlots);
    return e.add(e.mul(slot, t.strips), u.strip);
  }
  Ix slotOf(const cube::Ring &ring, Ix tile) { return cube::slotRow(e, ring, block, place(tile)); }
  /// Keys of a tile of the unit.
  Ix keysOf(Ix tile);
  /// Columns of the sums of a tile: V's, and behind them the sums of weights that the cube core adds up.
  int64_t sumWidth() const { return a.problem.valueDepth + (t.ones ? kSumColumns : 0); }
  /// Has each tile more than `keys` keys?
  bool alwaysMoreKeys(int64_t keys) const {
    return !a.lengths && !a.keys && a.problem.keys - (t.tiles(a.problem) - 1) * t.keys > keys;
  }

  /// The fewest rows that a vector core's share of a strip may have, of units that are cut.
  int64_t leastShare() const;

  Emitter e;
  const Attention &a;
  const AttentionTiling &t;
  const Rings &rings;
  Ix block; ///< number of this block
  Ix share; ///< rows of a vector core's share of a strip
  Ix chunk; ///< rows of the first half of a share
  struct Unit {
    Ix exists;             ///< 0 or 1: a block may have no further unit
    Ix turn;               ///< 0 and 1 in turn
    Ix before;             ///< tiles of the block's units before, where all see as many
    Ix strip;              ///< number of the strip
    Ix head, row, rows;    ///< its head among those of all batches, its first row, and how many
    Ix length, offset;     ///< keys of its batch, and the place of the head's first row among them
    Ix firstTile, endTile; ///< that it sees
  } u;
  Ix queries, keys; ///< of a head

private:
  void enterStrip(const Unit &unit, Ix strip);
  void chooseUnits();
  Unit unitAt(Ix index, Ix exists);
  Ix countUnits();
  void setKeys(Unit &unit);
  Ix blocks;   ///< of the launch
  Ix heads;    ///< of Q, in all batches
  Ix unitRows; ///< rows of a unit, the last one of a head may have fewer
  Ix unitsOfHead;
};

} // namespace pto_mlir::attention

#endif // PTO_MLIR_LIB_KERNELS_ATTENTION_ATTENTIONPART_H
