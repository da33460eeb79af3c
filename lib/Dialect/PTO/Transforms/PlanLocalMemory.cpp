//===- PlanLocalMemory.cpp - give every alloc_tile its address --------------------------===//
//
// One memory at a time: number the ops, derive when each tile is in use, place the tiles (TilePlacement.h).
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "LowerSlots.h"
#include "QueueBuffers.h"
#include "TilePlacement.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

#define DEBUG_TYPE "pto-plan-local-memory"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOPLANLOCALMEMORY
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// First and last number of the ops inside an op, itself included.
using Numbering = DenseMap<Operation *, std::pair<int64_t, int64_t>>;
} // namespace

static void number(Operation *op, Numbering &numbers, int64_t &next) {
  int64_t first = next++;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      number(&inner, numbers, next);
  numbers[op] = {first, next++};
}

/// Whether a move between the two kinds of core touches the tile (or a slot).
static bool isShared(Operation *alloc) { return llvm::any_of(getMemoryUsers(alloc->getResult(0)), crossesCores); }

/// What keeps a tile of `ancestor`'s block alive for `user` inside of `ancestor`: the outermost loop on the way, else
/// the user itself. One arm of a branch runs, so a tile of one arm needs no memory in the other.
static Operation *holder(Operation *user, Operation *ancestor) {
  Operation *holder = user;
  for (Operation *op = user; op != ancestor; op = op->getParentOp())
    if (!isa<scf::IfOp>(op->getParentOp()))
      holder = op->getParentOp();
  return holder;
}

/// A tile lives from its first to its last user; a user inside a deeper loop keeps it alive over that whole loop, as
/// does a loop that hands it on to its next trip. The halves of a doubled tile are in use by neighbouring trips at
/// once: it lives as long as its loop.
static std::pair<int64_t, int64_t> lifetime(Operation *alloc, const Numbering &numbers) {
  // The other core may write a shared tile at any time, so it is live in the whole function.
  if (isShared(alloc))
    return numbers.lookup(alloc->getParentOfType<func::FuncOp>());
  if (auto tile = dyn_cast<AllocTileOp>(alloc); tile && getBuffers(tile) > 1)
    return numbers.lookup(alloc->getParentOp());
  int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  for (Operation *user : getMemoryUsers(alloc->getResult(0))) {
    // Handed on out of its block: it lives from there on over all that holds both.
    Block *block = alloc->getBlock();
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    while (!ancestor) {
      block = block->getParentOp()->getBlock();
      ancestor = block->findAncestorOpInBlock(*user);
    }
    if (user->hasTrait<OpTrait::IsTerminator>() && isa<LoopLikeOpInterface>(user->getParentOp()))
      if (user->getParentOp()->isAncestor(alloc))
        ancestor = user->getParentOp();
    auto widen = [&](Operation *op) {
      auto [begin, end] = numbers.lookup(op);
      first = std::min(first, begin);
      last = std::max(last, end);
    };
    widen(ancestor->isAncestor(user) ? holder(user, ancestor) : ancestor);
    if (block != alloc->getBlock())
      widen(block->findAncestorOpInBlock(*alloc));
  }
  return {first, last};
}

/// The operands that an op of a single vector instruction reads element by element, each before it writes that element.
static SmallVector<Value, 2> elementwiseReads(Operation *op) {
  if (isa<TAddOp, TSubOp, TMulOp, TMaxOp, TMinOp, TAddSOp, TMulSOp, TMaxSOp, TMinSOp, TExpOp, TAbsOp, TReluOp>(op))
    return getTileReads(op);
  if (isa<TRowExpandSubOp, TRowExpandMulOp>(op) && getTileReads(op).size() == 2) // without scratch
    return {getTileReads(op).front()};
  return {};
}

/// The tiles in whose place the op at `first` may compute `alloc`: operands of its type, of which it reads nothing
/// else.
static SmallVector<Operation *, 2> replaceableOperands(AllocTileOp alloc, int64_t first, const Numbering &numbers) {
  SmallVector<Operation *, 2> found;
  for (Operation *user : alloc->getUsers()) {
    SmallVector<Value> reads = getTileReads(user);
    if (numbers.lookup(user).first != first || llvm::is_contained(reads, alloc.getResult()))
      continue;
    for (Value operand : elementwiseReads(user)) {
      auto source = operand.getDefiningOp<AllocTileOp>();
      bool readsParts = llvm::any_of(
          reads, [&](Value read) { return read != operand && getAliasRoot(read) == getAliasRoot(operand); });
      if (source && source.getType() == alloc.getType() && !readsParts)
        found.push_back(source);
    }
  }
  return found;
}

/// Bytes of all buffers or slots of an allocation.
static int64_t bytesOf(Operation *op, const Target &arch) {
  if (auto ring = op->getAttrOfType<DenseI64ArrayAttr>(kRingAttr))
    return ring[1];
  if (auto slots = dyn_cast<AllocMultiTileOp>(op))
    return getSlotStride(slots, /*planned=*/!slots.getAddr(), arch) * (slots.getResult().getType().getCount() - 1) +
           getAlignedBytes(slots.getTileType(), arch);
  auto alloc = cast<AllocTileOp>(op);
  return getAlignedBytes(alloc.getTileType(), arch) * getBuffers(alloc);
}

/// Where an allocation with an address begins.
static int64_t placeOf(Operation *op, Value address) {
  if (auto ring = op->getAttrOfType<DenseI64ArrayAttr>(kRingAttr))
    return ring[0];
  if (auto base = op->getAttrOfType<IntegerAttr>(kBaseAttr))
    return base.getInt();
  return getConstantIntValue(address).value_or(0);
}

namespace {
struct PlanLocalMemoryPass : public pto_mlir::pto::impl::PTOPlanLocalMemoryBase<PlanLocalMemoryPass> {
  using PTOPlanLocalMemoryBase::PTOPlanLocalMemoryBase;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](func::FuncOp func) {
      PTO_DEBUG("@" << func.getName());
      return plan(func);
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  using Memories = std::map<unsigned, SmallVector<Tile>>;

  void add(Operation *op, TileBufType type, Value address, const Numbering &numbers, Memories &memories) {
    if (sharedOnly && !address && !isShared(op))
      return;
    auto [first, last] = lifetime(op, numbers);
    Tile tile{op, bytesOf(op, targetOf(op)), first, last};
    if (auto alloc = dyn_cast<AllocTileOp>(op); alloc && getBuffers(alloc) == 1)
      tile.operands = replaceableOperands(alloc, first, numbers);
    if (address) {
      tile.fixed = true;
      tile.address = placeOf(op, address);
    }
    auto space = static_cast<unsigned>(type.getLoc());
    if (type.getLoc() == AddressSpace::scaling)
      if (ScaleUse use = getScaleUse(op->getResult(0)); use != ScaleUse::none) {
        space = use == ScaleUse::left ? kLeftScales : kRightScales;
        auto [rows, cols] = getScaleBox(type, use);
        tile.bytes = rows * cols;
      }
    memories[space].push_back(tile);
  }

  WalkResult plan(func::FuncOp func) {
    Numbering numbers;
    int64_t next = 0;
    number(func, numbers, next);
    const Target &arch = targetOf(func);
    Memories memories;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto alloc = dyn_cast<AllocTileOp>(op))
        add(op, alloc.getTileType(), alloc.getAddr(), numbers, memories);
      else if (auto slots = dyn_cast<AllocMultiTileOp>(op))
        add(op, slots.getTileType(), slots.getAddr(), numbers, memories);
    });
    std::map<unsigned, int64_t> behind; // bytes of reserved buffers that are placed behind the tiles
    func.walk([&](ReserveBufferOp reserve) {
      auto space = static_cast<unsigned>(reserve.getLocation());
      int64_t bytes = getReservedBytes(reserve, arch);
      if (reserve.getAutoAlloc())
        behind[space] += pto_mlir::roundUp(bytes, kReservedAlignment);
      else
        memories[space].push_back({nullptr, bytes, 0, next, true, static_cast<int32_t>(*reserve.getBase())});
    });
    DenseMap<Operation *, Value> turns;
    for (auto &[space, tiles] : memories) {
      if (llvm::all_of(tiles, [](const Tile &tile) { return tile.fixed; }))
        continue;
      LocalLimit limit = getLocalLimit(arch, space);
      bool fits = placeBeside(behind[space], tiles, limit);
      if (!fits && assemblerLimits) {
        limit = getAssemblerLimit(arch, space);
        fits = placeBeside(behind[space], tiles, limit);
      }
      if (!fits) {
        reportOverflow(func, tiles, limit);
        return WalkResult::interrupt();
      }
      for (Tile &tile : tiles)
        if (!tile.fixed)
          setAddress(tile, turns);
    }
    for (auto &[space, tiles] : memories)
      for (Tile &tile : tiles)
        if (auto slots = dyn_cast_or_null<AllocMultiTileOp>(tile.alloc))
          if (failed(lowerSlots(slots, /*planned=*/!tile.fixed)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  }

  /// Places the tiles so that `reserved` bytes are free behind them, else so that they fit at least: reserved buffers
  /// may lie between tiles.
  static bool placeBeside(int64_t reserved, MutableArrayRef<Tile> tiles, LocalLimit limit) {
    LocalLimit rest = limit;
    rest.bytes -= reserved;
    return (reserved != 0 && placeWithin(tiles, rest).fits) || placeWithin(tiles, limit).fits;
  }

  static void reportOverflow(func::FuncOp func, MutableArrayRef<Tile> tiles, const LocalLimit &limit) {
    Tile *largest = nullptr;
    for (Tile &tile : tiles)
      if (!tile.fixed && tile.last >= 0 && (!largest || tile.bytes > largest->bytes))
        largest = &tile;
    Location place = largest && !isa<UnknownLoc>(largest->alloc->getLoc()) ? largest->alloc->getLoc() : func.getLoc();
    InFlightDiagnostic diag = emitError(place, "tiles need ")
                              << placeWithin(tiles, limit).need << " bytes of " << limit.name << ", which has "
                              << limit.bytes << "; smaller tiles or fewer of them at a time would fit";
    if (largest)
      diag.attachNote(place) << "the largest tile takes " << largest->bytes << " bytes";
  }

  static void setAddress(Tile &tile, DenseMap<Operation *, Value> &turns) {
    Location loc = tile.alloc->getLoc();
    OpBuilder b(tile.alloc);
    auto constant = [&](int64_t value) {
      return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(value)).getResult();
    };
    Value address = constant(tile.address);
    if (auto slots = dyn_cast<AllocMultiTileOp>(tile.alloc)) {
      slots.getAddrMutable().assign(address);
      return;
    }
    auto alloc = cast<AllocTileOp>(tile.alloc);
    if (getPaddedTileBytes(alloc.getTileType()) != getTileBytes(alloc.getTileType()))
      alloc->setAttr(kPaddedAttr, UnitAttr::get(alloc.getContext()));
    auto loop = dyn_cast<scf::ForOp>(alloc->getParentOp());
    if (getBuffers(alloc) > 1 && loop) {
      alloc->setAttr(kBaseAttr, b.getI64IntegerAttr(tile.address));
      Value turn = b.create<arith::IndexCastOp>(loc, b.getI64Type(), getTurn(loop, turns));
      Value offset = b.create<arith::MulIOp>(loc, turn, constant(tile.bytes / getBuffers(alloc)));
      address = b.createOrFold<arith::AddIOp>(loc, offset, address);
    }
    alloc.getAddrMutable().assign(address);
  }
};
} // namespace
