//===- QueuePop.cpp - the consumer of a queue -----------------------------------------------===//

#include "QueueLowering.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace pto_mlir::pto;

/// The tile that a pop fills, with the sizes that the text sets right behind it.
AllocTileOp QueueLowering::poppedTile(TPopOp op, const Side &side, TileBufType tile, Value count) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Indices i(b, loc);
  std::optional<int64_t> base = baseOf(side);
  int64_t place = side.queue.placeBytes(getAlignedBytes(tile, arch));
  Value address = placeOf(b, loc, side, count, place);
  Value rows, cols;
  SetValidShapeOp sizes;
  for (Operation *user : op.getTile().getUsers())
    if (auto set = dyn_cast<SetValidShapeOp>(user); set && set->getPrevNode() == op)
      sizes = set;
  if (sizes) {
    dead.push_back(sizes);
    rows = sizes.getValidRow(), cols = sizes.getValidCol();
  } else {
    if (tile.hasDynamicValidRows())
      rows = i.constant(tile.getRows());
    if (tile.hasDynamicValidCols())
      cols = i.constant(tile.getCols());
  }
  auto alloc = b.create<AllocTileOp>(loc, tile, address, rows, cols);
  if (base)
    alloc->setAttr(kRingAttr, b.getDenseI64ArrayAttr({*base, place * side.queue.localSlots}));
  // Trips of a loop that pop once take places in turn.
  auto pops = popsOf.find({op->getParentOp(), queueNumber.lookup(op.getPipeHandle())});
  if (base && pops != popsOf.end() && pops->second == 1 && side.queue.localSlots >= 2)
    alloc->setAttr(kBuffersAttr, b.getI64IntegerAttr(2));
  return alloc;
}

LogicalResult QueueLowering::pop(TPopOp op, Value count) {
  Side side = sideOf(Queue::of(op.getPipeHandle()), false);
  auto tile = dyn_cast<TileBufType>(op.getTile().getType());
  auto declared = op.getTile().getDefiningOp<DeclareTileOp>();
  if (!tile || !declared)
    return op.emitOpError("expects a tile of declare_tile");
  int64_t split = static_cast<int8_t>(op.getSplit());
  if (failed(checkFit(op, side, tile, split)))
    return failure();
  int64_t place = side.queue.placeBytes(getAlignedBytes(tile, arch));
  int64_t ring = place * side.queue.localSlots;
  if (auto reserve = side.local.getDefiningOp<ReserveBufferOp>();
      reserve && ring > static_cast<int32_t>(reserve.getSize()))
    return op.emitOpError("needs ") << ring << " bytes for " << side.queue.localSlots
                                    << " tiles, the reserved buffer \"" << reserve.getName() << "\" has "
                                    << static_cast<int32_t>(reserve.getSize());
  OpBuilder b(op);
  Location loc = op.getLoc();
  wait(b, loc, Pipe::PIPE_MTE2, side.dataFlag);
  AllocTileOp alloc = poppedTile(op, side, tile, count);
  if (side.queue.direct) {
    int64_t &bytes = ringBytes[side.queue.handle()];
    bytes = std::max(bytes, ring);
    b.create<SlotReadyOp>(loc, alloc.getResult());
  } else {
    Type type;
    bool saysPart =
        !isCube && split != 0 && (splitsRows(split) ? tile.hasDynamicValidRows() : tile.hasDynamicValidCols());
    Value part = splitsRows(split) ? alloc.getValidRow() : alloc.getValidCol();
    Value view = slotView(b, loc, side, count, tile, split, type, saysPart ? part : Value());
    b.create<TLoadOp>(loc, view, alloc.getResult());
  }
  DominanceInfo dominance(func);
  op.getTile().replaceUsesWithIf(alloc.getResult(), [&](OpOperand &use) {
    return use.getOwner() != op && dominance.properlyDominates(op, use.getOwner());
  });
  op.erase();
  return success();
}

/// Raises the flag of free slots behind the last reads of the ring's tiles.
void QueueLowering::giveBack(OpBuilder &b, Location loc, const Side &side) {
  if (side.queue.direct) {
    // All reads of the ring's tiles must have ended.
    TileBufType any =
        isCube ? makeMatTile(b.getContext(), 16, 8, b.getF32Type()) : makeVecTile(b.getContext(), 1, 8, b.getF32Type());
    auto ring =
        b.create<AllocTileOp>(loc, any, placeOf(b, loc, side, Indices(b, loc).constant(0), 0), Value(), Value());
    if (auto bytes = ringBytes.find(side.queue.handle()); bytes != ringBytes.end() && baseOf(side))
      ring->setAttr(kRingAttr, b.getDenseI64ArrayAttr({*baseOf(side), bytes->second}));
    b.create<SlotDoneOp>(loc, ring.getResult());
  }
  raise(b, loc, Pipe::PIPE_MTE2, side.freeFlag);
}

LogicalResult QueueLowering::release(TFreeOp op, Value count) {
  Side side = sideOf(Queue::of(op.getPipeHandle()), false);
  OpBuilder b(op);
  Location loc = op.getLoc();
  Indices i(b, loc);
  Value isDue =
      i.compare(arith::CmpIPredicate::eq, i.of<arith::RemSIOp>(i.of<arith::AddIOp>(count, 1), side.period), 0);
  std::optional<int64_t> known = getConstantIntValue(isDue);
  if (known && *known) {
    giveBack(b, loc, side);
  } else if (!known) {
    auto branch = b.create<scf::IfOp>(loc, isDue, /*withElse=*/false);
    OpBuilder inside = OpBuilder::atBlockTerminator(branch.thenBlock());
    giveBack(inside, loc, side);
  }
  op.erase();
  return success();
}
