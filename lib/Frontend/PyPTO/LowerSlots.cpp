// Slots of one allocation: those of MemRefs, and those that the public generator makes of loads in pipelines.
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"

#include <map>

using namespace mlir;

namespace pto_mlir::pypto_frontend {

pto::AllocMultiTileOp Lowering::makeSlots(pto::TileBufType tile, uint64_t count) {
  Value rows = tile.hasDynamicValidRows() ? indexConstant(tile.getRows()) : Value();
  Value cols = tile.hasDynamicValidCols() ? indexConstant(tile.getCols()) : Value();
  auto type = pto::MultiTileBufType::get(b.getContext(), tile, int64_t(count));
  return tiles.create<pto::AllocMultiTileOp>(loc, type, Value(), rows, cols);
}

/// The tile in the slot that a MemRef says, taken where the program is; of memory before the function's tiles.
Value Lowering::slotOf(const ir::MemRef &memref, pto::TileBufType tile) {
  pto::AllocMultiTileOp &region = slots[memref.id_];
  if (!region)
    region = makeSlots(tile, memref.slots_);
  CHECK(region.getTileType() == tile) << "slots of one allocation have one type and valid extent";
  // A remainder of what is not negative is the assembler's, which knows slots that take turns by it.
  auto rest = ir::As<ir::FloorMod>(memref.slot_);
  Value number = rest && ir::IsA<ir::Var>(rest->left_) ? indexOf(rest->left_) : Value();
  auto counter = dyn_cast_or_null<BlockArgument>(number);
  auto loop = counter ? dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp()) : scf::ForOp();
  bool counts =
      loop && counter == loop.getInductionVar() && getConstantIntValue(loop.getLowerBound()).value_or(-1) >= 0;
  Value slot = counts ? b.create<arith::RemSIOp>(loc, number, indexOf(rest->right_)) : indexOf(memref.slot_);
  return b.create<pto::MultiTileGetOp>(loc, tile, region.getResult(), slot);
}

namespace {

/// What fills the tile in each turn, directly in the loop's body; null where something else writes it first.
pto::TLoadOp loadOfTurn(Operation *alloc, Block *body) {
  pto::TLoadOp load;
  for (Operation *user : alloc->getUsers())
    if (auto each = dyn_cast<pto::TLoadOp>(user); each && each->getBlock() == body)
      load = each;
  return load;
}

/// Whether all that is done with the tile behind its load is to read it, in the loop.
bool isOnlyRead(Operation *alloc, Operation *load, Block *body) {
  return llvm::all_of(alloc->getUsers(), [&](Operation *user) {
    bool names = mlir::isa<pto::TileAliasOpInterface, pto::SetValidShapeOp>(user) || user->getNumRegions() != 0 ||
                 user->hasTrait<OpTrait::IsTerminator>();
    return user == load || (!names && body->findAncestorOpInBlock(*user) &&
                            !llvm::is_contained(pto::getTileWrites(user), alloc->getResult(0)));
  });
}

bool mayHoldSlots(pto::TileBufType type) {
  auto space = type.getLoc();
  bool holds = space == pto::AddressSpace::vec || space == pto::AddressSpace::mat || space == pto::AddressSpace::acc;
  return holds && type.hasStaticValid();
}

/// Whether slot `iv mod stages` is another one in each turn, beginning with the first.
bool countsSlots(scf::ForOp loop, int64_t stages) {
  std::optional<int64_t> start = getConstantIntValue(loop.getLowerBound());
  return stages <= 16 && getConstantIntValue(loop.getStep()) == 1 && start && *start >= 0 && *start % stages == 0;
}

} // namespace

/// Tiles that a pipeline's turns load become slots, one for each stage, as far as the public generator does it: where
/// all that a loop loads can be slots, which fit their memory, and the pipelines around it have been treated alike.
void Lowering::takeSlotsInPipelines() {
  std::map<unsigned, int64_t> used; // by memory, in bytes
  auto bytesOf = [&](pto::TileBufType type, int64_t count) { return pto::getPaddedTileBytes(type) * count; };
  for (auto &[id, region] : slots)
    used[unsigned(region.getTileType().getLoc())] +=
        bytesOf(region.getTileType(), region.getResult().getType().getCount());
  llvm::SmallPtrSet<Block *, 4> declined;
  for (auto [body, stages] : stagesOfTurns) {
    auto loop = cast<scf::ForOp>(body->getParentOp());
    bool takes = countsSlots(loop, stages);
    for (Operation *outer = loop->getParentOp(); outer; outer = outer->getParentOp())
      takes &= outer->getNumRegions() != 1 || outer->getRegion(0).empty() ||
               !declined.contains(&outer->getRegion(0).front());
    SmallVector<pto::AllocTileOp> loaded;
    std::map<unsigned, int64_t> with = used;
    for (auto [alloc, turnOf] : tilesOfTurns)
      if (pto::TLoadOp load = loadOfTurn(alloc, body); load && turnOf == body) {
        auto tile = cast<pto::AllocTileOp>(alloc);
        auto space = unsigned(tile.getTileType().getLoc());
        takes &= mayHoldSlots(tile.getTileType()) && isOnlyRead(alloc, load, body);
        with[space] += bytesOf(tile.getTileType(), stages);
        takes &= with[space] <= pto::getLocalLimit(processor(), space).bytes;
        loaded.push_back(tile);
      }
    if (!takes) {
      declined.insert(body);
      continue;
    }
    used = with;
    if (loaded.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(body);
    loc = loop.getLoc();
    Value slot = b.create<arith::RemSIOp>(loc, loop.getInductionVar(), indexConstant(stages));
    for (pto::AllocTileOp tile : loaded) {
      loc = tile.getLoc();
      auto region = makeSlots(tile.getTileType(), uint64_t(stages));
      tile.getResult().replaceAllUsesWith(
          b.create<pto::MultiTileGetOp>(loc, tile.getTileType(), region.getResult(), slot).getResult());
      llvm::erase_if(tilesOfTurns, [&](auto &each) { return each.first == tile.getOperation(); });
      tile.erase();
    }
  }
}

} // namespace pto_mlir::pypto_frontend
