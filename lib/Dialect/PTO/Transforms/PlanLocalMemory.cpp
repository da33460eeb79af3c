//===- PlanLocalMemory.cpp - give every alloc_tile its address --------------------------===//
//
// One memory at a time: number the ops, derive when each tile is in use, place the tiles. Placing tries three orders
// and takes the first that fits: no sharing, first fit in the order of first use, first fit with large tiles first.
//
//===----------------------------------------------------------------------===//

#include "Accesses.h"
#include "QueueBuffers.h"
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
/// A tile to place, or one that the program placed (`fixed`), or a reserved buffer at an address (no `alloc`). The
/// lifetime is inclusive on both ends.
struct Tile {
  AllocTileOp alloc;
  int64_t bytes;
  int64_t first, last;
  bool fixed = false;
  int64_t address = 0;
};
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

/// Whether a move between the two kinds of core touches the tile.
static bool isShared(AllocTileOp alloc) { return llvm::any_of(getMemoryUsers(alloc.getResult()), crossesCores); }

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
static std::pair<int64_t, int64_t> lifetime(AllocTileOp alloc, const Numbering &numbers) {
  // The other core may write a shared tile at any time, so it is live in the whole function.
  if (isShared(alloc))
    return numbers.lookup(alloc->getParentOfType<func::FuncOp>());
  if (getBuffers(alloc) > 1)
    return numbers.lookup(alloc->getParentOp());
  int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  for (Operation *user : getMemoryUsers(alloc.getResult())) {
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

/// Lowest address at which `tile` meets no placed tile that is alive with it.
static int64_t lowestFit(const Tile &tile, ArrayRef<const Tile *> placed, int64_t alignment, bool share) {
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (const Tile *other : placed)
    if (!share || other->fixed || (other->first <= tile.last && tile.first <= other->last))
      taken.emplace_back(other->address, other->address + other->bytes);
  llvm::sort(taken);
  int64_t at = 0;
  for (auto [begin, end] : taken) {
    if (at + tile.bytes <= begin)
      break;
    at = std::max(at, pto_mlir::roundUp(end, alignment));
  }
  return at;
}

/// Places `tiles` in order; returns the bytes needed. In the order of first use, tiles that are no more alive are alive
/// with none of those to come.
static int64_t place(MutableArrayRef<Tile> tiles, ArrayRef<size_t> order, int64_t alignment, bool share) {
  SmallVector<const Tile *> placed;
  int64_t need = 0;
  for (const Tile &tile : tiles)
    if (tile.fixed) {
      placed.push_back(&tile);
      need = std::max(need, tile.address + tile.bytes);
    }
  bool byUse = share && llvm::is_sorted(order, [&](size_t a, size_t b) { return tiles[a].first < tiles[b].first; });
  for (size_t i : order) {
    Tile &tile = tiles[i];
    if (byUse)
      llvm::erase_if(placed, [&](const Tile *other) { return !other->fixed && other->last < tile.first; });
    tile.address = lowestFit(tile, placed, alignment, share);
    placed.push_back(&tile);
    need = std::max(need, tile.address + tile.bytes);
  }
  return need;
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

  WalkResult plan(func::FuncOp func) {
    Numbering numbers;
    int64_t next = 0;
    number(func, numbers, next);
    const Target &arch = targetOf(func);
    std::map<unsigned, SmallVector<Tile>> memories;
    func.walk<WalkOrder::PreOrder>([&](AllocTileOp alloc) {
      if (sharedOnly && !alloc.getAddr() && !isShared(alloc))
        return;
      auto [first, last] = lifetime(alloc, numbers);
      Tile tile{alloc, getAlignedBytes(alloc.getTileType(), arch) * getBuffers(alloc), first, last};
      if (alloc.getAddr()) {
        tile.fixed = true;
        tile.address = getConstantIntValue(alloc.getAddr()).value_or(0);
      }
      auto space = static_cast<unsigned>(alloc.getTileType().getLoc());
      if (alloc.getTileType().getLoc() == AddressSpace::scaling)
        if (ScaleUse use = getScaleUse(alloc.getResult()); use != ScaleUse::none) {
          space = use == ScaleUse::left ? kLeftScales : kRightScales;
          auto [rows, cols] = getScaleBox(alloc.getTileType(), use);
          tile.bytes = rows * cols;
        }
      memories[space].push_back(tile);
    });
    std::map<unsigned, int64_t> behind; // bytes of reserved buffers that are placed behind the tiles
    func.walk([&](ReserveBufferOp reserve) {
      auto space = static_cast<unsigned>(reserve.getLocation());
      int64_t bytes = getReservedBytes(reserve, arch);
      if (reserve.getAutoAlloc())
        behind[space] += pto_mlir::roundUp(bytes, kReservedAlignment);
      else
        memories[space].push_back({AllocTileOp(), bytes, 0, next, true, static_cast<int32_t>(*reserve.getBase())});
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
    return WalkResult::advance();
  }

  struct Placement {
    bool fits;
    int64_t need; // bytes, of the best order that was tried
  };

  /// Places the tiles of one memory within `limit`.
  static Placement placeWithin(MutableArrayRef<Tile> tiles, const LocalLimit &limit) {
    SmallVector<size_t> byUse, bySize;
    for (size_t i = 0; i < tiles.size(); ++i)
      if (!tiles[i].fixed && tiles[i].last >= 0) // a tile that nothing uses needs no bytes
        byUse.push_back(i);
    llvm::sort(byUse, [&](size_t a, size_t b) { return std::pair(tiles[a].first, a) < std::pair(tiles[b].first, b); });
    bySize = byUse;
    llvm::sort(bySize, [&](size_t a, size_t b) {
      return std::tuple(-tiles[a].bytes, tiles[a].first, a) < std::tuple(-tiles[b].bytes, tiles[b].first, b);
    });
    int64_t need = 0;
    for (size_t i : byUse)
      need += tiles[i].bytes;
    if (need <= limit.bytes)
      need = place(tiles, byUse, limit.alignment, /*share=*/false);
    if (need <= limit.bytes)
      return {true, need};
    need = place(tiles, byUse, limit.alignment, /*share=*/true);
    if (need <= limit.bytes)
      return {true, need};
    need = std::min(need, place(tiles, bySize, limit.alignment, /*share=*/true));
    return {need <= limit.bytes, need};
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
    Location place = largest && !isa<UnknownLoc>(largest->alloc.getLoc()) ? largest->alloc.getLoc() : func.getLoc();
    InFlightDiagnostic diag = emitError(place, "tiles need ")
                              << placeWithin(tiles, limit).need << " bytes of " << limit.name << ", which has "
                              << limit.bytes << "; smaller tiles or fewer of them at a time would fit";
    if (largest)
      diag.attachNote(place) << "the largest tile takes " << largest->bytes << " bytes";
  }

  static void setAddress(Tile &tile, DenseMap<Operation *, Value> &turns) {
    AllocTileOp alloc = tile.alloc;
    Location loc = alloc.getLoc();
    if (getPaddedTileBytes(alloc.getTileType()) != getTileBytes(alloc.getTileType()))
      alloc->setAttr(kPaddedAttr, UnitAttr::get(alloc.getContext()));
    OpBuilder b(alloc);
    auto constant = [&](int64_t value) {
      return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(value)).getResult();
    };
    Value address = constant(tile.address);
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
