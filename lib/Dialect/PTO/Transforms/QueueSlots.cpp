//===- QueueSlots.cpp - where the tiles of a queue are --------------------------------------===//

#include "QueueLowering.h"

using namespace mlir;
using namespace pto_mlir::pto;

Side QueueLowering::sideOf(Queue queue, bool produces) {
  bool toVector = produces == isCube, second = queue.both() && !toVector;
  Side side;
  side.queue = queue;
  side.produces = produces;
  side.period = queue.slots <= 2 ? queue.slots : queue.slots / 2;
  side.ringOffset = second ? queue.slots * queue.slotBytes : 0;
  side.dataFlag = *queue.flagBase + (second ? 2 : 0);
  side.freeFlag = side.dataFlag + 1;
  side.local = second ? queue.peerLocal : queue.local;
  if (auto names = queue.op->getAttrOfType<ArrayAttr>(kBufferNamesAttr))
    side.buffer = cast<StringAttr>(names[second]).str();
  return side;
}

/// Where the consumer's ring begins, as far as it is known now.
std::optional<int64_t> QueueLowering::baseOf(const Side &side) {
  if (auto reserved = bases.find(side.buffer); !side.buffer.empty() && reserved != bases.end())
    return reserved->second;
  if (auto reserve = side.local.getDefiningOp<ReserveBufferOp>(); reserve && reserve.getBase())
    return static_cast<int32_t>(*reserve.getBase());
  return getConstantIntValue(side.local);
}

/// Address of place `count` rem (local slots) of the consumer's ring.
Value QueueLowering::placeOf(OpBuilder &b, Location loc, const Side &side, Value count, int64_t place) {
  Indices i(b, loc);
  Value address = i.of<arith::MulIOp>(i.of<arith::RemSIOp>(count, side.queue.localSlots), place);
  if (std::optional<int64_t> base = baseOf(side))
    address = i.of<arith::AddIOp>(address, *base);
  else
    address = i.fold<arith::AddIOp>(address, b.create<arith::IndexCastOp>(loc, b.getIndexType(), side.local));
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), address);
}

void QueueLowering::raise(OpBuilder &b, Location loc, Pipe pipe, int64_t flag) {
  raiseFlag(b, loc, pipe, Indices(b, loc).constant(flag), arch, isCube);
}

void QueueLowering::wait(OpBuilder &b, Location loc, Pipe pipe, int64_t flag) {
  waitFlag(b, loc, pipe, Indices(b, loc).constant(flag), arch, isCube);
}

std::pair<int64_t, int64_t> QueueLowering::extentOf(TileBufType tile) {
  return {tile.hasDynamicValidRows() ? tile.getRows() : tile.getValidRows(),
          tile.hasDynamicValidCols() ? tile.getCols() : tile.getValidCols()};
}

/// The rectangle of slot `count` rem slots that holds this core's tile. Slots are row-major; a vector core's tile is
/// half of one when split, and of parts that differ by one the first has all of its box. Where a core says at run time
/// how much it has (`valid`), it takes that.
Value QueueLowering::slotView(OpBuilder &b, Location loc, const Side &side, Value count, TileBufType tile,
                              int64_t split, Type &type, Value valid) {
  Indices i(b, loc);
  Value bytes = i.of<arith::MulIOp>(i.of<arith::RemSIOp>(count, side.queue.slots), side.queue.slotBytes);
  bytes = i.of<arith::AddIOp>(bytes, side.ringOffset);
  Type element = tile.getElementType();
  Value gm = b.create<SlotPtrOp>(loc, PtrType::get(element), side.queue.gm, bytes);
  auto [rows, cols] = extentOf(tile);
  int64_t allRows = rows, allCols = cols;
  Value row = i.constant(0), col = row;
  if (!isCube && split != 0) {
    Value lane = b.create<arith::IndexCastOp>(loc, b.getIndexType(), b.create<GetSubBlockIdxOp>(loc));
    int64_t less = split > 2; // than two boxes
    if (splitsRows(split)) {
      allRows = 2 * rows - less;
      row = i.of<arith::MulIOp>(lane, rows);
    } else {
      allCols = 2 * cols - less;
      col = i.of<arith::MulIOp>(lane, cols);
    }
  }
  Value numRows = i.constant(rows), numCols = i.constant(cols);
  if (valid) {
    (splitsRows(split) ? numRows : numCols) = valid;
    (splitsRows(split) ? rows : cols) = ShapedType::kDynamic;
  }
  auto whole = b.create<MakeTensorViewOp>(loc, TensorViewType::get(b.getContext(), {allRows, allCols}, element), gm,
                                          ValueRange{i.constant(allRows), i.constant(allCols)},
                                          ValueRange{i.constant(allCols), i.constant(1)});
  type = PartitionTensorViewType::get(b.getContext(), {rows, cols}, element);
  return b.create<PartitionViewOp>(loc, type, whole, ValueRange{row, col}, ValueRange{numRows, numCols});
}

/// A tile must fit its slot, parts of one together. From core to core places are as large as tiles need, and what is
/// divided there are boxes.
LogicalResult QueueLowering::checkFit(Operation *op, const Side &side, TileBufType tile, int64_t split) {
  auto [rows, cols] = extentOf(tile);
  bool isHalf = !isCube && split != 0;
  if (side.queue.direct) {
    bool isPart = splitsRows(split) ? rows != tile.getRows() : cols != tile.getCols();
    if (split > 2 || (isCube && split != 0 && isPart))
      return op->emitOpError("divides an odd extent, or one that is valid in part, on the way from core to core; ")
             << arch.name << " divides whole tiles in equal halves there";
    return success();
  }
  int64_t part = splitsRows(split) ? cols : rows; // of one row or column that the second part lacks
  int64_t elements = rows * cols * (isHalf ? 2 : 1) - (isHalf && split > 2 ? part : 0);
  int64_t bytes = elements * getElementBits(tile.getElementType()) / 8;
  if (bytes > side.queue.slotBytes)
    return op->emitOpError("moves ") << bytes << " bytes" << (isHalf ? " with both halves" : "")
                                     << ", a slot of the queue has " << side.queue.slotBytes;
  return success();
}
