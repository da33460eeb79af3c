//===- LowerPipes.cpp - queues between cores to slots and cross-core flags ------------------------===//
//
// A queue is a ring of slots in global memory. Its n-th push stores to slot n rem slots and raises a flag; its n-th pop
// waits for the flag and loads the slot into place n rem (local slots) of a local buffer. Room is returned every
// `period` tiles by a second flag (pto-isa 1.5). A queue from core to core has its slots in the consumer's local
// buffer: a push moves the tile there, a pop only waits.
//
//===----------------------------------------------------------------------------------------------===//

#include "Accesses.h"
#include "CoreFlags.h"
#include "QueueBuffers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"

#include <map>

#define DEBUG_TYPE "pto-lower-pipes"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOLOWERPIPES
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// One direction of a queue, as one core sees it.
struct Side {
  Queue queue;
  bool produces;
  int64_t ringOffset, period;
  int64_t dataFlag, freeFlag;
  Value local;        // address of the consumer's buffer
  std::string buffer; // its name, if it is a reserved one
};

/// Integers with handy arithmetic that folds.
class Indices {
public:
  Indices(OpBuilder &b, Location loc) : b(b), loc(loc) {}
  Value constant(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }
  template <typename Op> Value of(Value lhs, int64_t rhs) { return fold<Op>(lhs, constant(rhs)); }
  template <typename Op> Value fold(Value lhs, Value rhs) { return b.createOrFold<Op>(loc, lhs, rhs); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, int64_t rhs) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, lhs, constant(rhs));
  }

private:
  OpBuilder &b;
  Location loc;
};

/// First bytes of the reserved buffers of the module, by name.
using Bases = std::map<std::string, int64_t>;

class QueueLowering {
public:
  QueueLowering(func::FuncOp func, KernelKind kind, const Bases &bases)
      : func(func), isCube(kind == KernelKind::cube), arch(targetOf(func)), bases(bases) {}
  LogicalResult run();

private:
  /// Tiles pushed and popped so far, two numbers for each queue: by the core as producer, as consumer; and slots freed.
  using Counts = SmallVector<Value>;
  enum { kPushed, kPopped, kFreed, kCounts };

  Side sideOf(Queue queue, bool produces);
  LogicalResult lowerBlock(Block &block, Counts &counts);
  LogicalResult lowerLoop(scf::ForOp loop, Counts &counts);
  LogicalResult lowerBranch(scf::IfOp branch, Counts &counts);
  SmallVector<unsigned> countsIn(Operation *op);
  unsigned countOf(Value queue, unsigned which) { return queueNumber.lookup(queue) * kCounts + which; }
  LogicalResult push(TPushOp op, Value count);
  LogicalResult pop(TPopOp op, Value count);
  LogicalResult release(TFreeOp op, Value count);
  void drain(Operation *before, const Side &side, Value pushed);
  void wait(OpBuilder &b, Location loc, Pipe pipe, int64_t flag);
  void raise(OpBuilder &b, Location loc, Pipe pipe, int64_t flag);
  Value slotView(OpBuilder &b, Location loc, const Side &side, Value count, TileBufType tile, int64_t split,
                 Type &type);
  void byFirstOnly(Operation *store);
  std::optional<int64_t> baseOf(const Side &side);
  Value placeOf(OpBuilder &b, Location loc, const Side &side, Value count, int64_t place);
  void pushDirect(TPushOp op, const Side &side, TileBufType tile, Value count, int64_t split);

  func::FuncOp func;
  bool isCube;
  const Target &arch;
  const Bases &bases;
  DenseMap<Value, unsigned> queueNumber;
  SmallVector<Operation *> dead;                               // what is erased at the end
  DenseMap<Value, int64_t> ringBytes;                          // of a direct queue's ring, as its pops use it
  bool usesWhole = false;                                      // some queue's tiles are not split
  std::map<std::pair<Operation *, unsigned>, unsigned> popsOf; // of a loop's body and a queue
};
} // namespace

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

/// The rows and columns that travel.
static std::pair<int64_t, int64_t> extentOf(TileBufType tile) {
  return {tile.hasDynamicValidRows() ? tile.getRows() : tile.getValidRows(),
          tile.hasDynamicValidCols() ? tile.getCols() : tile.getValidCols()};
}

/// The rectangle of slot `count` rem slots that holds this core's tile. Slots are row-major; a vector core's tile is
/// half of one when split.
Value QueueLowering::slotView(OpBuilder &b, Location loc, const Side &side, Value count, TileBufType tile,
                              int64_t split, Type &type) {
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
    if (split == 1) {
      allRows *= 2;
      row = i.of<arith::MulIOp>(lane, rows);
    } else {
      allCols *= 2;
      col = i.of<arith::MulIOp>(lane, cols);
    }
  }
  auto whole = b.create<MakeTensorViewOp>(loc, TensorViewType::get(b.getContext(), {allRows, allCols}, element), gm,
                                          ValueRange{i.constant(allRows), i.constant(allCols)},
                                          ValueRange{i.constant(allCols), i.constant(1)});
  type = PartitionTensorViewType::get(b.getContext(), {rows, cols}, element);
  return b.create<PartitionViewOp>(loc, type, whole, ValueRange{row, col},
                                   ValueRange{i.constant(rows), i.constant(cols)});
}

/// With whole tiles both vector cores hold the same; the first one stores.
void QueueLowering::byFirstOnly(Operation *store) {
  OpBuilder b(store);
  Value lane = b.create<GetSubBlockIdxOp>(store->getLoc());
  Value isFirst = b.create<arith::CmpIOp>(store->getLoc(), arith::CmpIPredicate::eq, lane,
                                          b.create<arith::ConstantIntOp>(store->getLoc(), 0, 64));
  auto branch = b.create<scf::IfOp>(store->getLoc(), isFirst, /*withElse=*/false);
  store->moveBefore(branch.thenBlock()->getTerminator());
}

/// A tile must fit its slot, halves of one together. From core to core places are as large as tiles need.
static LogicalResult checkFit(Operation *op, const Side &side, TileBufType tile, bool isHalf) {
  if (side.queue.direct)
    return success();
  auto [rows, cols] = extentOf(tile);
  int64_t bytes = rows * cols * getElementBits(tile.getElementType()) / 8 * (isHalf ? 2 : 1);
  if (bytes > side.queue.slotBytes)
    return op->emitOpError("moves ") << bytes << " bytes" << (isHalf ? " with both halves" : "")
                                     << ", a slot of the queue has " << side.queue.slotBytes;
  return success();
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
    int64_t boxRows = tile.getRows() / (split == 1 ? 2 : 1), boxCols = tile.getCols() / (split == 2 ? 2 : 1);
    Value to = remote(makeVecTile(context, boxRows, boxCols, tile.getElementType(), rows / (split == 1 ? 2 : 1),
                                  cols / (split == 2 ? 2 : 1)));
    using Mode = AccToVecMode;
    SmallVector<Mode, 2> modes = {Mode::single_mode_vec0, Mode::single_mode_vec1};
    if (split != 0)
      modes.assign(1, split == 1 ? Mode::dual_mode_split_m : Mode::dual_mode_split_n);
    for (Mode mode : modes)
      b.create<TMovOp>(loc, op.getTile(), to, Value(), Value(), AccToVecModeAttr::get(context, mode),
                       ReluPreMode::no_relu);
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
    byFirstOnly(insert);
}

LogicalResult QueueLowering::push(TPushOp op, Value count) {
  Side side = sideOf(Queue::of(op.getPipeHandle()), true);
  auto tile = dyn_cast<TileBufType>(op.getTile().getType());
  if (!tile)
    return op.emitOpError("pushes a ") << op.getTile().getType() << ", only tiles have instructions";
  int64_t split = static_cast<int8_t>(op.getSplit());
  if (failed(checkFit(op, side, tile, !isCube && split != 0)))
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
      byFirstOnly(store);
  }
  b.setInsertionPoint(op);
  raise(b, loc, pipe, side.dataFlag);
  op.erase();
  return success();
}

LogicalResult QueueLowering::pop(TPopOp op, Value count) {
  Side side = sideOf(Queue::of(op.getPipeHandle()), false);
  auto tile = dyn_cast<TileBufType>(op.getTile().getType());
  auto declared = op.getTile().getDefiningOp<DeclareTileOp>();
  if (!tile || !declared)
    return op.emitOpError("expects a tile of declare_tile");
  int64_t split = static_cast<int8_t>(op.getSplit());
  if (failed(checkFit(op, side, tile, !isCube && split != 0)))
    return failure();
  std::optional<int64_t> base = baseOf(side);
  int64_t place = side.queue.placeBytes(getAlignedBytes(tile, arch));
  int64_t ring = place * side.queue.localSlots;
  if (auto reserve = side.local.getDefiningOp<ReserveBufferOp>();
      reserve && ring > static_cast<int32_t>(reserve.getSize()))
    return op.emitOpError("needs ") << ring << " bytes for " << side.queue.localSlots
                                    << " tiles, the reserved buffer \"" << reserve.getName() << "\" has "
                                    << static_cast<int32_t>(reserve.getSize());
  OpBuilder b(op);
  Location loc = op.getLoc();
  Indices i(b, loc);
  Pipe pipe = Pipe::PIPE_MTE2;
  wait(b, loc, pipe, side.dataFlag);
  Value address = placeOf(b, loc, side, count, place);
  // Sizes that the text sets right behind the pop.
  Value rows, cols;
  SetValidShapeOp sizes;
  for (Operation *user : op.getTile().getUsers())
    if (auto set = dyn_cast<SetValidShapeOp>(user); set && set->getPrevNode() == op)
      sizes = set;
  if (sizes) {
    rows = sizes.getValidRow(), cols = sizes.getValidCol();
  } else {
    if (tile.hasDynamicValidRows())
      rows = i.constant(tile.getRows());
    if (tile.hasDynamicValidCols())
      cols = i.constant(tile.getCols());
  }
  auto alloc = b.create<AllocTileOp>(loc, tile, address, rows, cols);
  if (base)
    alloc->setAttr(kRingAttr, b.getDenseI64ArrayAttr({*base, ring}));
  // Trips of a loop that pop once take places in turn.
  auto pops = popsOf.find({op->getParentOp(), queueNumber.lookup(op.getPipeHandle())});
  if (base && pops != popsOf.end() && pops->second == 1 && side.queue.localSlots >= 2)
    alloc->setAttr(kBuffersAttr, b.getI64IntegerAttr(2));
  if (side.queue.direct) {
    int64_t &bytes = ringBytes[side.queue.handle()];
    bytes = std::max(bytes, ring);
    b.create<SlotReadyOp>(loc, alloc.getResult());
  } else {
    Type type;
    Value view = slotView(b, loc, side, count, tile, split, type);
    b.create<TLoadOp>(loc, view, alloc.getResult());
  }
  if (sizes)
    dead.push_back(sizes);
  DominanceInfo dominance(func);
  op.getTile().replaceUsesWithIf(alloc.getResult(), [&](OpOperand &use) {
    return use.getOwner() != op && dominance.properlyDominates(op, use.getOwner());
  });
  op.erase();
  return success();
}

LogicalResult QueueLowering::release(TFreeOp op, Value count) {
  Side side = sideOf(Queue::of(op.getPipeHandle()), false);
  OpBuilder b(op);
  Location loc = op.getLoc();
  Indices i(b, loc);
  Value isDue =
      i.compare(arith::CmpIPredicate::eq, i.of<arith::RemSIOp>(i.of<arith::AddIOp>(count, 1), side.period), 0);
  std::optional<int64_t> known = getConstantIntValue(isDue);
  auto giveBack = [&](OpBuilder &at) {
    if (side.queue.direct) {
      // Whoever reads tiles of the ring has to be done with them.
      TileBufType any = isCube ? makeMatTile(at.getContext(), 16, 8, at.getF32Type())
                               : makeVecTile(at.getContext(), 1, 8, at.getF32Type());
      auto ring = at.create<AllocTileOp>(loc, any, placeOf(at, loc, side, i.constant(0), 0), Value(), Value());
      if (auto bytes = ringBytes.find(side.queue.handle()); bytes != ringBytes.end() && baseOf(side))
        ring->setAttr(kRingAttr, at.getDenseI64ArrayAttr({*baseOf(side), bytes->second}));
      at.create<SlotDoneOp>(loc, ring.getResult());
    }
    raise(at, loc, Pipe::PIPE_MTE2, side.freeFlag);
  };
  if (known && *known) {
    giveBack(b);
  } else if (!known) {
    auto branch = b.create<scf::IfOp>(loc, isDue, /*withElse=*/false);
    OpBuilder inside = OpBuilder::atBlockTerminator(branch.thenBlock());
    giveBack(inside);
  }
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

//===- counting ---------------------------------------------------------------------------===//

/// The numbers that ops inside change.
SmallVector<unsigned> QueueLowering::countsIn(Operation *op) {
  llvm::SmallSetVector<unsigned, 6> counts;
  op->walk([&](Operation *inner) {
    if (auto push = dyn_cast<TPushOp>(inner))
      counts.insert(countOf(push.getPipeHandle(), kPushed));
    else if (auto pop = dyn_cast<TPopOp>(inner))
      counts.insert(countOf(pop.getPipeHandle(), kPopped));
    else if (auto free = dyn_cast<TFreeOp>(inner))
      counts.insert(countOf(free.getPipeHandle(), kFreed));
  });
  return counts.takeVector();
}

LogicalResult QueueLowering::lowerLoop(scf::ForOp loop, Counts &counts) {
  SmallVector<unsigned> changed = countsIn(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  for (unsigned c : changed)
    inits.push_back(counts[c]);
  OpBuilder b(loop);
  auto counting =
      b.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  counting->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (Block *body = counting.getBody(); !body->empty())
    body->getTerminator()->erase();
  size_t old = loop.getNumResults();
  for (auto [from, to] :
       llvm::zip(loop.getBody()->getArguments(), counting.getBody()->getArguments().take_front(old + 1)))
    from.replaceAllUsesWith(to);
  counting.getBody()->getOperations().splice(counting.getBody()->end(), loop.getBody()->getOperations());
  counting.walk([&](TPopOp pop) { ++popsOf[{counting, queueNumber.lookup(pop.getPipeHandle())}]; });
  Counts inside = counts;
  for (auto [k, c] : llvm::enumerate(changed))
    inside[c] = counting.getRegionIterArg(old + k);
  if (failed(lowerBlock(*counting.getBody(), inside)))
    return failure();
  Operation *yield = counting.getBody()->getTerminator();
  for (auto [k, c] : llvm::enumerate(changed)) {
    yield->insertOperands(yield->getNumOperands(), inside[c]);
    counts[c] = counting.getResult(old + k);
  }
  for (auto [from, to] : llvm::zip(loop.getResults(), counting.getResults().take_front(old)))
    from.replaceAllUsesWith(to);
  loop.erase();
  return success();
}

LogicalResult QueueLowering::lowerBranch(scf::IfOp branch, Counts &counts) {
  SmallVector<unsigned> changed = countsIn(branch);
  SmallVector<Type> types(branch.getResultTypes());
  OpBuilder b(branch);
  types.append(changed.size(), b.getIndexType());
  auto counting = b.create<scf::IfOp>(branch.getLoc(), types, branch.getCondition(), /*withElse=*/true);
  for (unsigned r = 0; r < 2; ++r) {
    Region &from = branch->getRegion(r), &to = counting->getRegion(r);
    Counts inside = counts;
    if (from.empty()) {
      OpBuilder end = OpBuilder::atBlockEnd(&to.front());
      end.create<scf::YieldOp>(branch.getLoc());
    } else {
      to.takeBody(from);
      if (failed(lowerBlock(to.front(), inside)))
        return failure();
    }
    Operation *yield = to.front().getTerminator();
    for (unsigned c : changed)
      yield->insertOperands(yield->getNumOperands(), inside[c]);
  }
  size_t old = branch.getNumResults();
  for (auto [k, c] : llvm::enumerate(changed))
    counts[c] = counting.getResult(old + k);
  for (auto [from, to] : llvm::zip(branch.getResults(), counting.getResults().take_front(old)))
    from.replaceAllUsesWith(to);
  branch.erase();
  return success();
}

LogicalResult QueueLowering::lowerBlock(Block &block, Counts &counts) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Value *count = nullptr;
    LogicalResult done = success();
    if (isa<TPushOp, TPopOp, TFreeOp>(op)) {
      Value queue = isa<TPushOp>(op)  ? cast<TPushOp>(op).getPipeHandle()
                    : isa<TPopOp>(op) ? cast<TPopOp>(op).getPipeHandle()
                                      : cast<TFreeOp>(op).getPipeHandle();
      Queue opened = Queue::of(queue);
      // The directions that this core produces and consumes.
      int64_t mine = isCube ? 1 : 2;
      int64_t needed = isa<TPushOp>(op) ? mine : 3 - mine;
      if (!(opened.dirMask & needed))
        return op.emitOpError("goes against the queue's direction: dir_mask is ")
               << opened.dirMask << " and this is the " << (isCube ? "cube" : "vector") << " core";
      count = &counts[countOf(queue, isa<TPushOp>(op) ? kPushed : isa<TPopOp>(op) ? kPopped : kFreed)];
      Value now = *count;
      OpBuilder b(&op);
      Indices i(b, op.getLoc());
      *count = i.of<arith::AddIOp>(now, 1);
      done = isa<TPushOp>(op)  ? push(cast<TPushOp>(op), now)
             : isa<TPopOp>(op) ? pop(cast<TPopOp>(op), now)
                               : release(cast<TFreeOp>(op), now);
    } else if (op.getNumRegions() != 0 && !countsIn(&op).empty()) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        done = lowerLoop(loop, counts);
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        done = lowerBranch(branch, counts);
      else
        return op.emitOpError("holds queue ops, which may stand in scf.for and scf.if");
    }
    if (failed(done))
      return failure();
  }
  return success();
}

LogicalResult QueueLowering::run() {
  SmallVector<Queue> queues;
  WalkResult direct = func.walk([&](Operation *op) {
    if (Queue queue = Queue::of(op)) {
      queueNumber[queue.handle()] = queues.size();
      queues.push_back(queue);
      if (op->getBlock() != &func.getBody().front()) {
        op->emitOpError("opens a queue inside of control flow; open it at the top of the function");
        return WalkResult::interrupt();
      }
      if (queue.direct && !arch.directTiles) {
        op->emitOpError("opens a queue from core to core, which ")
            << arch.name << " has not; initialize_l2g2l_pipe goes through global memory";
        return WalkResult::interrupt();
      }
    }
    if (auto split = op->getAttrOfType<IntegerAttr>("split"); split && isa<TPushOp, TPopOp>(op))
      usesWhole |= split.getInt() == 0;
    return WalkResult::advance();
  });
  if (direct.wasInterrupted())
    return failure();
  if (queues.empty()) {
    func.walk([](ReserveBufferOp reserve) {
      if (reserve->use_empty())
        reserve.erase();
    });
    return success();
  }
  // What both vector cores compute alike, one of them stores.
  bool asksWhich = func.walk([](GetSubBlockIdxOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (usesWhole && !isCube && !asksWhich) {
    SmallVector<Operation *> stores;
    func.walk([&](TStoreOp store) { stores.push_back(store); });
    for (Operation *store : stores)
      byFirstOnly(store);
  }
  OpBuilder b = OpBuilder::atBlockBegin(&func.getBody().front());
  Counts counts(queues.size() * kCounts, b.create<arith::ConstantIndexOp>(func.getLoc(), 0));
  if (failed(lowerBlock(func.getBody().front(), counts)))
    return failure();
  Operation *end = func.getBody().front().getTerminator();
  for (Queue queue : queues) {
    if (queue.dirMask & (isCube ? 1 : 2))
      drain(end, sideOf(queue, true), counts[countOf(queue.handle(), kPushed)]);
    dead.push_back(queue.op);
  }
  func.walk([&](Operation *op) {
    if (isa<DeclareTileOp, ReserveBufferOp>(op))
      dead.push_back(op);
  });
  for (Operation *op : dead) {
    if (!op->use_empty())
      return op->emitOpError("is used where no tpop has filled it");
    op->erase();
  }
  return success();
}

namespace {
struct LowerPipesPass : pto_mlir::pto::impl::PTOLowerPipesBase<LowerPipesPass> {
  void runOnOperation() override {
    Bases bases;
    getOperation().walk([&](ReserveBufferOp reserve) {
      if (auto names = reserve->getAttrOfType<ArrayAttr>(kBufferNamesAttr); names && reserve.getBase())
        bases[cast<StringAttr>(names[0]).str()] = static_cast<int32_t>(*reserve.getBase());
    });
    WalkResult result = getOperation().walk([&](func::FuncOp func) {
      auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
      PTO_DEBUG("@" << func.getName() << (kind ? "" : ": of no core"));
      return kind ? WalkResult(QueueLowering(func, kind.getValue(), bases).run()) : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
