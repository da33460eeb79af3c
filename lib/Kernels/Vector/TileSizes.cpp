//===- TileSizes.cpp - how many rows of a nest fit ------------------------===//

#include "TileSizes.h"
#include "Phases.h"
#include "pto_mlir/Cost/Prices.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

Nest makeNest(ArrayRef<linalg::LinalgOp> ops, const Domain &domain) {
  Nest nest;
  nest.ops.assign(ops.begin(), ops.end());
  linalg::LinalgOp widest;
  for (linalg::LinalgOp op : ops)
    if (!widest || op.getNumLoops() > widest.getNumLoops())
      widest = op;
  SmallVector<unsigned> classes = domain.loopClasses(widest);
  SmallVector<int64_t> extents = loopBounds(widest);
  if (!classes.empty()) {
    nest.colClass = classes.back();
    nest.colExtent = extents.back();
  }
  if (classes.size() > 1) {
    nest.rowClass = classes[classes.size() - 2];
    nest.rowExtent = extents[extents.size() - 2];
  }
  return nest;
}

int64_t liveTemporaries(linalg::LinalgOp op) {
  DenseMap<Operation *, size_t> place;
  for (Operation &at : *op.getBlock())
    place.try_emplace(&at, place.size());
  // A result lives from the next op to its last reader: what that adds where it begins, and takes behind its end.
  SmallVector<int64_t> changes(place.size() + 1, 0);
  for (auto [def, begin] : place) {
    size_t last = begin;
    for (Operation *user : def->getUsers())
      last = std::max(last, place.lookup(user));
    if (last == begin)
      continue;
    ++changes[begin + 1];
    --changes[last + 1];
  }
  int64_t most = 0, live = 0;
  for (int64_t change : changes)
    most = std::max(most, live += change);
  // Reductions need a scratch tile and a partial result.
  return most + 1 + (op.getNumReductionLoops() ? 1 : 0);
}

/// Is `value` read along class `cls` by the map?
static bool hasClass(AffineMap map, ArrayRef<unsigned> classes, unsigned cls) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && classes[dim.getPosition()] == cls;
  });
}

/// Bytes of an element of `value`; 0 for what is not a tensor.
static int64_t elementBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? std::max(1u, type.getElementTypeBitWidth() / 8) : 0;
}

/// Columns of one row of the nest's tiles. All tiles of a nest have the same: whole 32-byte blocks of the narrowest
/// type.
static int64_t paddedColumns(const Nest &nest) {
  int64_t narrowest = 4;
  auto count = [&](Value value) {
    if (int64_t bytes = elementBytes(value))
      narrowest = std::min(narrowest, bytes);
  };
  for (linalg::LinalgOp op : nest.ops) {
    llvm::for_each(op->getOperands(), count);
    llvm::for_each(op->getResults(), count);
  }
  return llvm::alignTo(nest.colExtent, 32 / narrowest);
}

int64_t maxTileExtent(const Nest &nest, const Domain &domain, unsigned cls) {
  constexpr int64_t kBlock = 32;
  int64_t fixedBytes = 0, unitBytes = 0, temporaryBytes = 0;
  llvm::SmallDenseSet<Value> seen;
  bool columns = cls == nest.colClass;
  // Along columns the padding is paid once per tile.
  int64_t rowColumns = columns ? 1 : paddedColumns(nest);
  auto count = [&](bool hasRow, bool hasCol, int64_t perElement) {
    int64_t bytes = (hasCol ? rowColumns : 1) * perElement;
    bool scales = columns ? hasCol : hasRow;
    (scales ? unitBytes : fixedBytes) += bytes;
    if (!scales)
      fixedBytes += kBlock;
  };
  for (linalg::LinalgOp op : nest.ops) {
    SmallVector<unsigned> classes = domain.loopClasses(op);
    auto countValue = [&](Value value, AffineMap map) {
      int64_t bytes = elementBytes(value);
      if (!bytes || !seen.insert(value).second)
        return;
      count(hasClass(map, classes, nest.rowClass), hasClass(map, classes, nest.colClass), bytes);
    };
    for (OpOperand &operand : op->getOpOperands())
      if (!op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand))
        countValue(operand.get(), op.getMatchingIndexingMap(&operand));
    for (OpResult result : op->getResults())
      countValue(result, op.getIndexingMapMatchingResult(result));
    bool hasRow = llvm::is_contained(classes, nest.rowClass);
    int64_t perTemporary = columns || hasRow ? rowColumns * 4 : 0;
    temporaryBytes = std::max(temporaryBytes, liveTemporaries(op) * perTemporary);
  }
  unitBytes += temporaryBytes;
  int64_t room = unifiedBufferBudget(nest.ops.front()) / 2 - fixedBytes;
  return room <= 0 ? 0 : room / std::max<int64_t>(unitBytes, 1);
}

int64_t maxColumnsOfRows(const Nest &nest, const Domain &domain, int64_t rows) {
  int64_t bytes = 0, temporaryBytes = 0;
  llvm::SmallDenseSet<Value> seen;
  for (linalg::LinalgOp op : nest.ops) {
    SmallVector<unsigned> classes = domain.loopClasses(op);
    if (!llvm::is_contained(classes, nest.rowClass))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      int64_t perElement = elementBytes(operand.get());
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (perElement && hasClass(map, classes, nest.rowClass) && seen.insert(operand.get()).second)
        bytes += perElement;
    }
    temporaryBytes = std::max(temporaryBytes, liveTemporaries(op) * 4);
  }
  return unifiedBufferBudget(nest.ops.front()) / 2 / std::max<int64_t>(rows * (bytes + temporaryBytes), 1);
}

/// Rows that one DMA moves: 12 bits, whole blocks of 8.
static constexpr int64_t kMostRows = 4088;
/// Columns of a tile's box: 16 bits, whole blocks of 8.
static constexpr int64_t kMostColumns = 65528;

TilePrice priceTiles(const Nest &nest, const Domain &domain) {
  TilePrice price;
  cost::Prices prices(pto::targetOf(nest.ops.front()).name);
  llvm::SmallDenseSet<Value> seen;
  llvm::SmallDenseSet<Operation *> inside(nest.ops.begin(), nest.ops.end());
  auto move = [&](TilePrice::Engine &engine, cost::Way way, Value value, AffineMap map, ArrayRef<unsigned> classes) {
    int64_t bytes = elementBytes(value);
    if (!bytes || !seen.insert(value).second)
      return;
    engine.fixed += prices.start(way);
    if (hasClass(map, classes, nest.colClass) && (nest.rowClass == ~0u || hasClass(map, classes, nest.rowClass)))
      engine.perElement += double(bytes) * prices.perByte(way);
  };
  for (linalg::LinalgOp op : nest.ops) {
    SmallVector<unsigned> classes = domain.loopClasses(op);
    for (OpOperand *input : op.getDpsInputOperands())
      if (Operation *def = input->get().getDefiningOp(); !def || !inside.contains(def))
        move(price.load, cost::Way::ToUB, input->get(), op.getMatchingIndexingMap(input), classes);
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        move(price.store, cost::Way::FromUB, result, op.getIndexingMapMatchingResult(result), classes);
    double operations = double(op.getBlock()->getOperations().size() - 1);
    price.compute.fixed += operations * prices.operation();
    price.compute.perElement += operations * prices.operationPerElement();
  }
  return price;
}

/// Of the core with `rounds` tiles.
static double cyclesOf(const TilePrice &price, double rounds, double elements) {
  double load = price.load.of(elements), compute = price.compute.of(elements), store = price.store.of(elements),
         busiest = std::max({load, compute, store});
  return (rounds - 1) * busiest + load + compute + store;
}

int64_t chooseTileExtent(const TilePrice &price, int64_t extent, int64_t limit, int64_t elementsPerUnit,
                         int64_t otherTiles, int64_t cores) {
  int64_t most = std::max<int64_t>(std::min(limit, elementsPerUnit == 1 ? kMostColumns : kMostRows), 1);
  int64_t alignment = elementsPerUnit == 1 && most >= 8 ? 8 : 1;
  int64_t fewest = llvm::divideCeil(extent, most), best = 0;
  double least = 0;
  // More tiles than a few per core gain nothing.
  for (int64_t parts = fewest; parts <= std::min(extent, fewest + 4 * cores); ++parts) {
    int64_t tile = std::min(most, (int64_t)llvm::alignTo(llvm::divideCeil(extent, parts), alignment));
    auto rounds = double(llvm::divideCeil(llvm::divideCeil(extent, tile) * otherTiles, cores));
    double cycles = cyclesOf(price, rounds, double(tile * elementsPerUnit));
    if (best == 0 || cycles < least)
      best = tile, least = cycles;
  }
  return std::min(std::max<int64_t>(best, 1), extent);
}

TransposedTile chooseTransposedTile(linalg::LinalgOp op, int64_t rows, int64_t cols, int64_t otherTiles,
                                    int64_t cores) {
  cost::Prices prices(pto::targetOf(op).name);
  int64_t least = 4, bytes = 4 * liveTemporaries(op);
  for (Value value : op->getOperands())
    if (int64_t size = elementBytes(value)) {
      least = std::min(least, size);
      bytes += size;
    }
  int64_t block = 32 / least, most = unifiedBufferBudget(op) / 2 / bytes;
  auto padded = [&](int64_t count) { return (int64_t)llvm::alignTo(count, block); };
  auto cut = [&](int64_t extent, int64_t parts) { return std::min(extent, padded(llvm::divideCeil(extent, parts))); };
  TransposedTile best;
  double bestCost = 0;
  int64_t mostCols = std::min({cols, kMostRows, std::max(most / block, block)});
  // Fewer, longer runs first; enough parts for all cores.
  for (int64_t colParts = llvm::divideCeil(cols, mostCols); colParts <= cols; ++colParts) {
    int64_t c = cut(cols, colParts);
    int64_t mostRows = std::min({rows, kMostRows, std::max(most / padded(c) / block * block, block)});
    int64_t fewest = llvm::divideCeil(rows, mostRows);
    for (int64_t rowParts = fewest; rowParts <= std::min(fewest + 2 * cores, rows); ++rowParts) {
      int64_t r = cut(rows, rowParts);
      if (padded(r) * padded(c) > most && r > block)
        continue;
      int64_t tiles = llvm::divideCeil(rows, r) * llvm::divideCeil(cols, c) * otherTiles;
      TilePrice price;
      price.load.fixed = prices.transfer(cost::Way::ToUB, double(r * c * least));
      price.compute.fixed = prices.vector("ttrans", padded(r), padded(c), unsigned(least));
      price.store.fixed = prices.transfer(cost::Way::FromUB, double(r * c * least));
      double cost = cyclesOf(price, double(llvm::divideCeil(tiles, cores)), 0);
      if (bestCost == 0 || cost < bestCost)
        best = {r, c}, bestCost = cost;
      if (r <= block)
        break;
    }
    if (c <= block)
      break;
  }
  return best;
}

} // namespace pto_mlir::vector_kernels
