//===- Accesses.cpp - what an op touches ---------------------------------------------===//

#include "Accesses.h"
#include "pto_mlir/Support/MathExtras.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/Transforms/LocalLimits.h"

using namespace mlir;

namespace pto_mlir::pto {

bool isEngineOp(Operation *op) { return isa<PipeOpInterface>(op) && !isa<TileAliasOpInterface>(op); }

bool crossesCores(Operation *op) {
  if (!isa<TMovOp, TInsertOp, TExtractOp>(op))
    return false;
  auto from = dyn_cast<TileBufType>(getTileReads(op).front().getType()),
       to = dyn_cast<TileBufType>(getTileWrites(op).front().getType());
  return from && to && (from.getLoc() == AddressSpace::vec) != (to.getLoc() == AddressSpace::vec);
}

int64_t getBuffers(AllocTileOp alloc) {
  auto buffers = alloc->getAttrOfType<IntegerAttr>(kBuffersAttr);
  return buffers ? buffers.getInt() : 1;
}

int64_t getAlignedBytes(TileBufType type, const Target &arch) {
  int64_t alignment = getLocalLimit(arch, static_cast<unsigned>(type.getLoc())).alignment;
  return roundUp(getPaddedTileBytes(type), alignment);
}

SmallVector<Operation *> getMemoryUsers(Value tile) {
  SmallVector<Operation *> users;
  SmallVector<Value> names = {tile};
  llvm::SmallPtrSet<Operation *, 4> carriers; // ops of control flow that hand the tile on
  auto handOn = [&](Operation *op) {
    if (!carriers.insert(op).second)
      return;
    for (Value result : op->getResults())
      if (isa<TileBufType>(result.getType()))
        names.push_back(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (isa<TileBufType>(argument.getType()))
          names.push_back(argument);
  };
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<TileAliasOpInterface>(user)) {
        names.push_back(user->getResult(0));
        continue;
      }
      users.push_back(user);
      if (user->hasTrait<OpTrait::IsTerminator>())
        handOn(user->getParentOp());
      else if (user->getNumRegions() != 0)
        handOn(user);
    }
  return users;
}

/// Fills root, begin, end and the address of a tile.
static void describeTile(Value tile, Access &access) {
  auto type = cast<TileBufType>(tile.getType());
  access.space = type.getLoc();
  access.begin = 0;
  access.end = getPaddedTileBytes(type);
  // From the name outwards: a part known to be a run of bytes narrows the range, any other part stands for its whole.
  while (auto alias = tile.getDefiningOp<TileAliasOpInterface>()) {
    if (isa<TAssignOp>(alias))
      break;
    Value source = alias.getAliasSource();
    if (isa<MultiTileGetOp>(alias)) { // not lowered yet: any of the slots
      access.root = source;
      return;
    }
    auto sourceType = cast<TileBufType>(source.getType());
    if (auto begin = getPartBegin(alias)) {
      std::optional<int64_t> row = getConstantIntValue(begin->first), col = getConstantIntValue(begin->second);
      auto partType = cast<TileBufType>(tile.getType());
      bool run = row && col && *col == 0 && !sourceType.isBoxed() && sourceType.isRowMajor() &&
                 partType.getCols() == sourceType.getCols();
      if (run) {
        int64_t offset = *row * getPaddedBox(sourceType).second * getElementBits(sourceType.getElementType()) / 8;
        access.begin += offset;
        access.end += offset;
      } else {
        access.begin = 0;
        access.end = getPaddedTileBytes(sourceType);
      }
    }
    tile = source;
  }
  access.root = tile;
  auto alloc = tile.getDefiningOp<AllocTileOp>();
  access.anywhere = !alloc;
  if (!alloc)
    return;
  int64_t buffers = getBuffers(alloc);
  access.span = getAlignedBytes(alloc.getTileType(), targetOf(alloc)) * buffers;
  if (buffers > 1)
    access.turns = dyn_cast<scf::ForOp>(alloc->getParentOp());
  if (auto ring = alloc->getAttrOfType<DenseI64ArrayAttr>(kRingAttr)) {
    access.placed = true;
    access.address = ring[0];
    access.begin = 0;
    access.end = access.span = ring[1];
  } else if (auto base = alloc->getAttrOfType<IntegerAttr>(kBaseAttr)) {
    access.placed = true;
    access.address = base.getInt();
  } else if (alloc.getAddr()) {
    std::optional<int64_t> address = getConstantIntValue(alloc.getAddr());
    access.placed = address.has_value();
    access.anywhere = !address;
    access.address = address.value_or(0);
  }
}

/// The kernel argument (or whatever value) that a view is a view of.
static Value getGlobalRoot(Value view) {
  while (Operation *def = view.getDefiningOp()) {
    if (auto part = dyn_cast<PartitionViewOp>(def))
      view = part.getSource();
    else if (auto whole = dyn_cast<MakeTensorViewOp>(def))
      view = whole.getPtr();
    else if (auto moved = dyn_cast<AddPtrOp>(def))
      view = moved.getPtr();
    else
      break;
  }
  return view;
}

SmallVector<Access> collectAccesses(Operation *op) {
  SmallVector<Access> accesses;
  if (!isEngineOp(op))
    return accesses;
  auto add = [&](Value value, bool write) {
    Access access{};
    access.write = write;
    access.global = !isa<TileBufType>(value.getType());
    if (access.global)
      access.root = getGlobalRoot(value);
    else
      describeTile(value, access);
    accesses.push_back(access);
  };
  for (Value value : getTileReads(op))
    add(value, false);
  for (Value value : getTileWrites(op))
    add(value, true);
  // A device that is told, or that was waited for, may access any argument.
  if (op->hasAttr(kFenceAttr) || isa<TNotifyOp, TWaitOp>(op)) {
    Access access{};
    access.write = access.global = access.anywhere = true;
    accesses.push_back(access);
  }
  if (!isa<MemoryEffectOpInterface>(op)) // flags between cores
    return accesses;
  // An op that writes without saying what (tfree gives a slot back) may touch any tile that queues fill.
  SmallVector<MemoryEffects::EffectInstance> effects;
  cast<MemoryEffectOpInterface>(op).getEffects(effects);
  if (llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
        return !effect.getValue() && isa<MemoryEffects::Write>(effect.getEffect());
      }))
    for (AddressSpace space : {AddressSpace::vec, AddressSpace::mat}) {
      Access access{};
      access.write = access.anywhere = true;
      access.space = space;
      accesses.push_back(access);
    }
  return accesses;
}

Overlap conflict(const Access &a, const Access &b) {
  if ((!a.write && !b.write) || a.global != b.global)
    return Overlap::none;
  if (a.global) // two arguments never share memory
    return a.root == b.root || a.anywhere || b.anywhere ? Overlap::always : Overlap::none;
  if (a.space != b.space)
    return Overlap::none;
  if (a.anywhere || b.anywhere)
    return Overlap::always;
  if (a.root == b.root) {
    if (a.end <= b.begin || b.end <= a.begin)
      return Overlap::none;
    return a.turns ? Overlap::sameTurn : Overlap::always;
  }
  if (!a.placed || !b.placed) // not planned yet: tiles are apart
    return Overlap::none;
  auto bytes = [](const Access &x) {
    return x.turns ? std::pair(x.address, x.address + x.span) : std::pair(x.address + x.begin, x.address + x.end);
  };
  auto [aBegin, aEnd] = bytes(a);
  auto [bBegin, bEnd] = bytes(b);
  return aEnd <= bBegin || bEnd <= aBegin ? Overlap::none : Overlap::always;
}

Value getTurn(scf::ForOp loop, DenseMap<Operation *, Value> &cache) {
  Value &turn = cache[loop];
  if (turn)
    return turn;
  auto b = OpBuilder::atBlockBegin(loop.getBody());
  Location loc = loop.getLoc();
  Value iv = loop.getInductionVar();
  Type type = iv.getType();
  Value two = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, 2));
  Value trip = b.createOrFold<arith::SubIOp>(loc, iv, loop.getLowerBound());
  trip = b.createOrFold<arith::FloorDivSIOp>(loc, trip, loop.getStep());
  turn = b.create<arith::RemSIOp>(loc, trip, two);
  if (!type.isIndex())
    turn = b.create<arith::IndexCastOp>(loc, b.getIndexType(), turn);
  return turn;
}

} // namespace pto_mlir::pto
