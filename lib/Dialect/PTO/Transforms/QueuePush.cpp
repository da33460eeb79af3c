//===- QueuePush.cpp - the producer of a queue ----------------------------------------------===//

#include "QueueLowering.h"

using namespace mlir;
using namespace pto_mlir::pto;

void pto_mlir::pto::byFirstCore(Operation *store) {
  OpBuilder b(store);
  Value lane = b.create<GetSubBlockIdxOp>(store->getLoc());
  Value isFirst = b.create<arith::CmpIOp>(store->getLoc(), arith::CmpIPredicate::eq, lane,
                                          b.create<arith::ConstantIntOp>(store->getLoc(), 0, 64));
  auto branch = b.create<scf::IfOp>(store->getLoc(), isFirst, /*withElse=*/false);
  store->moveBefore(branch.thenBlock()->getTerminator());
}

void pto_mlir::pto::storeByFirstCore(func::FuncOp func) {
  bool asksWhich = func.walk([](GetSubBlockIdxOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (asksWhich)
    return;
  SmallVector<Operation *> stores;
  func.walk([&](TStoreOp store) { stores.push_back(store); });
  for (Operation *store : stores)
    byFirstCore(store);
}

/// The tile goes to its slot in the other core's memory: from L0C to the vector cores' UB, halved or to both, or from
/// UB into its part of a tile in L1.
void QueueLowering::pushDirect(TPushOp op, const Side &side, TileBufType tile, Value count, int64_t split) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Indices i(b, loc);
  MLIRContext *context = b.getContext();
  auto [rows, cols] = extentOf(tile);
  int64_t parts = split == 0 ? 1 : 2;
  auto remote = [&](TileBufType type) {
    Value address = placeOf(b, loc, side, count, side.queue.placeBytes(getAlignedBytes(type, arch)));
    return b.create<AllocTileOp>(loc, type, address, Value(), Value()).getResult();
  };
  if (isCube) {
    Value from = op.getTile();
    if (!tile.hasStaticValid()) {
      // The consumer says how much of the box it reads; what it gets is the box of the accumulator.
      from = b.create<SubViewOp>(loc, tile.withValid(tile.getRows(), tile.getCols()), from,
                                 ValueRange{i.constant(0), i.constant(0)}, i.constant(tile.getRows()),
                                 i.constant(tile.getCols()), b.getI64ArrayAttr({tile.getRows(), tile.getCols()}));
      std::tie(rows, cols) = std::pair(tile.getRows(), tile.getCols());
    }
    int64_t boxRows = tile.getRows() / (split == 1 ? 2 : 1), boxCols = tile.getCols() / (split == 2 ? 2 : 1);
    Value to = remote(makeVecTile(context, boxRows, boxCols, tile.getElementType(), rows / (split == 1 ? 2 : 1),
                                  cols / (split == 2 ? 2 : 1)));
    using Mode = AccToVecMode;
    SmallVector<Mode, 2> modes = {Mode::single_mode_vec0, Mode::single_mode_vec1};
    if (split != 0)
      modes.assign(1, split == 1 ? Mode::dual_mode_split_m : Mode::dual_mode_split_n);
    for (Mode mode : modes)
      b.create<TMovOp>(loc, from, to, Value(), Value(), AccToVecModeAttr::get(context, mode), ReluPreMode::no_relu);
    return;
  }
  Value to = remote(makeMatTile(context, tile.getRows() * (split == 1 ? parts : 1),
                                tile.getCols() * (split == 2 ? parts : 1), tile.getElementType()));
  Value row = i.constant(0), col = row;
  if (split != 0) {
    Value lane = b.create<arith::IndexCastOp>(loc, b.getIndexType(), b.create<GetSubBlockIdxOp>(loc));
    (split == 1 ? row : col) = i.of<arith::MulIOp>(lane, split == 1 ? rows : cols);
  }
  auto insert = b.create<TInsertOp>(loc, op.getTile(), row, col, to);
  if (split == 0)
    byFirstCore(insert);
}

LogicalResult QueueLowering::push(TPushOp op, Value count) {
  Side side = sideOf(Queue::of(op.getPipeHandle()), true);
  auto tile = dyn_cast<TileBufType>(op.getTile().getType());
  if (!tile)
    return op.emitOpError("pushes a ") << op.getTile().getType() << ", only tiles have instructions";
  int64_t split = static_cast<int8_t>(op.getSplit());
  if (failed(checkFit(op, side, tile, split)))
    return failure();
  OpBuilder b(op);
  Location loc = op.getLoc();
  Indices i(b, loc);
  Pipe pipe = op.getPipe();
  Value isDue = i.fold<arith::AndIOp>(i.compare(arith::CmpIPredicate::sge, count, side.queue.slots),
                                      i.compare(arith::CmpIPredicate::eq, i.of<arith::RemSIOp>(count, side.period), 0));
  std::optional<int64_t> known = getConstantIntValue(isDue);
  if (known && *known) {
    wait(b, loc, pipe, side.freeFlag);
  } else if (!known) {
    auto branch = b.create<scf::IfOp>(loc, isDue, /*withElse=*/false);
    OpBuilder inside = OpBuilder::atBlockTerminator(branch.thenBlock());
    wait(inside, loc, pipe, side.freeFlag);
  }
  if (side.queue.direct) {
    pushDirect(op, side, tile, count, split);
  } else {
    Type type;
    Value view = slotView(b, loc, side, count, tile, split, type);
    auto store = b.create<TStoreOp>(loc, op.getTile(), view);
    if (!isCube && split == 0)
      byFirstCore(store);
  }
  b.setInsertionPoint(op);
  raise(b, loc, pipe, side.dataFlag);
  op.erase();
  return success();
}

/// At the end the producer takes the returned room that it did not need.
void QueueLowering::drain(Operation *before, const Side &side, Value pushed) {
  OpBuilder b(before);
  Location loc = before->getLoc();
  Indices i(b, loc);
  Value returned = i.of<arith::DivSIOp>(pushed, side.period);
  Value beyond = i.fold<arith::MaxSIOp>(i.of<arith::SubIOp>(pushed, side.queue.slots), i.constant(0));
  Value taken = i.of<arith::DivSIOp>(i.of<arith::AddIOp>(beyond, side.period - 1), side.period);
  Value left = i.fold<arith::SubIOp>(returned, taken);
  auto loop = b.create<scf::ForOp>(loc, i.constant(0), left, i.constant(1));
  OpBuilder inside = OpBuilder::atBlockTerminator(loop.getBody());
  wait(inside, loc, isCube ? Pipe::PIPE_FIX : Pipe::PIPE_MTE3, side.freeFlag);
}
