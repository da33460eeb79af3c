//===- TilePlacement.cpp - addresses for tiles whose lifetimes are known ------------------===//

#include "TilePlacement.h"

#include "pto_mlir/Support/MathExtras.h"

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// What tiles may share: nothing; bytes at different times; those of an operand that an op reads for the last time.
enum class TileSharing { none, inTurn, inPlace };
} // namespace

/// Lowest address at which `tile` meets no placed tile that is alive with it.
static int64_t lowestFit(const Tile &tile, ArrayRef<const Tile *> placed, int64_t alignment, TileSharing sharing) {
  SmallVector<std::pair<int64_t, int64_t>> taken;
  SmallVector<const Tile *> ending; // operands that are not read any more
  for (const Tile *other : placed) {
    if (sharing == TileSharing::inPlace && !other->fixed && other->last == tile.first + 1 &&
        llvm::is_contained(tile.operands, other->alloc))
      ending.push_back(other);
    else if (sharing == TileSharing::none || other->fixed || (other->first <= tile.last && tile.first <= other->last))
      taken.emplace_back(other->address, other->address + other->bytes);
  }
  auto isFree = [&](int64_t at) {
    return llvm::all_of(taken, [&](auto part) { return at + tile.bytes <= part.first || part.second <= at; });
  };
  for (const Tile *operand : ending) {
    bool alone = llvm::all_of(ending, [&](const Tile *other) {
      return other == operand || operand->address + operand->bytes <= other->address ||
             other->address + other->bytes <= operand->address;
    });
    if (alone && isFree(operand->address))
      return operand->address;
  }
  for (const Tile *operand : ending)
    taken.emplace_back(operand->address, operand->address + operand->bytes);
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
static int64_t place(MutableArrayRef<Tile> tiles, ArrayRef<size_t> order, int64_t alignment, TileSharing sharing) {
  SmallVector<const Tile *> placed;
  int64_t need = 0;
  for (const Tile &tile : tiles)
    if (tile.fixed) {
      placed.push_back(&tile);
      need = std::max(need, tile.address + tile.bytes);
    }
  bool byUse = sharing != TileSharing::none &&
               llvm::is_sorted(order, [&](size_t a, size_t b) { return tiles[a].first < tiles[b].first; });
  for (size_t i : order) {
    Tile &tile = tiles[i];
    if (byUse)
      llvm::erase_if(placed, [&](const Tile *other) { return !other->fixed && other->last < tile.first; });
    tile.address = lowestFit(tile, placed, alignment, sharing);
    placed.push_back(&tile);
    need = std::max(need, tile.address + tile.bytes);
  }
  return need;
}

Placement pto_mlir::pto::placeWithin(MutableArrayRef<Tile> tiles, const LocalLimit &limit) {
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
    need = place(tiles, byUse, limit.alignment, TileSharing::none);
  if (need <= limit.bytes)
    return {true, need};
  for (TileSharing sharing : {TileSharing::inTurn, TileSharing::inPlace})
    for (ArrayRef<size_t> order : {ArrayRef(byUse), ArrayRef(bySize)}) {
      need = std::min(need, place(tiles, order, limit.alignment, sharing));
      if (need <= limit.bytes)
        return {true, need};
    }
  return {false, need};
}
