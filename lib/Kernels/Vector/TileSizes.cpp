//===- TileSizes.cpp - how many rows of a nest fit ------------------------===//

#include "TileSizes.h"
#include "Phases.h"
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
  SmallVector<int64_t> extents = widest.getStaticLoopRanges();
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

/// Most body values that are alive at once, beyond operands and results.
static int64_t liveTemporaries(linalg::LinalgOp op) {
  int64_t most = 0;
  Block *body = op.getBlock();
  for (Operation &at : *body) {
    int64_t live = 0;
    for (Operation &def : *body) {
      if (&def == &at || !def.isBeforeInBlock(&at) || def.getNumResults() == 0)
        continue;
      live += llvm::any_of(def.getUsers(), [&](Operation *user) {
        return user == &at || at.isBeforeInBlock(user);
      });
    }
    most = std::max(most, live);
  }
  // Reductions need a scratch tile and a partial result.
  return most + 1 + (op.getNumReductionLoops() ? 1 : 0);
}

int64_t maxTileExtent(const Nest &nest, const Domain &domain, unsigned cls) {
  constexpr int64_t kBlock = 32;
  int64_t fixedBytes = 0, unitBytes = 0, temporaryBytes = 0;
  llvm::SmallDenseSet<Value> seen;
  bool columns = cls == nest.colClass;
  auto count = [&](bool hasRow, bool hasCol, int64_t elementBytes) {
    int64_t cols = hasCol && !columns ? nest.colExtent : 1;
    int64_t bytes = cols * elementBytes;
    bool scales = columns ? hasCol : hasRow;
    // Along columns the padding to 32 bytes is paid once per tile.
    if (!columns)
      bytes = llvm::alignTo(bytes, hasCol ? kBlock : elementBytes);
    (scales ? unitBytes : fixedBytes) += bytes;
    if (!scales)
      fixedBytes += kBlock;
  };
  for (linalg::LinalgOp op : nest.ops) {
    SmallVector<unsigned> classes = domain.loopClasses(op);
    auto countValue = [&](Value value, AffineMap map) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || !seen.insert(value).second)
        return;
      auto has = [&](unsigned wanted) {
        return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
          auto dim = dyn_cast<AffineDimExpr>(expr);
          return dim && classes[dim.getPosition()] == wanted;
        });
      };
      count(has(nest.rowClass), has(nest.colClass),
            std::max(1u, type.getElementTypeBitWidth() / 8));
    };
    for (OpOperand &operand : op->getOpOperands())
      countValue(operand.get(), op.getMatchingIndexingMap(&operand));
    for (OpResult result : op->getResults())
      countValue(result, op.getIndexingMapMatchingResult(result));
    bool hasRow = llvm::is_contained(classes, nest.rowClass);
    int64_t perTemporary =
        columns ? 4 : llvm::alignTo(nest.colExtent * 4, kBlock) * (hasRow ? 1 : 0);
    temporaryBytes = std::max(temporaryBytes, liveTemporaries(op) * perTemporary);
  }
  unitBytes += temporaryBytes;
  int64_t room = kUnifiedBufferBudget / 2 - fixedBytes;
  return room <= 0 ? 0 : room / std::max<int64_t>(unitBytes, 1);
}

int64_t chooseTileExtent(int64_t extent, int64_t limit, int64_t elementsPerUnit) {
  // A DMA moves at most 4095 rows; longer tiles hide no further latency.
  constexpr int64_t kMostElements = 16384, kWorthSplitting = 4096;
  int64_t tile = std::min(limit, std::max<int64_t>(kMostElements / elementsPerUnit, 8));
  tile = std::min<int64_t>(tile, elementsPerUnit == 1 ? kMostElements : 4088);
  if (extent <= tile) {
    if (extent < 16 || extent * elementsPerUnit < kWorthSplitting)
      return extent;
    tile = llvm::divideCeil(extent, 2);
    tile = std::min(extent, (int64_t)llvm::alignTo(tile, 8));
    return std::min(tile, limit);
  }
  if (tile >= 8)
    tile -= tile % 8;
  return std::max<int64_t>(tile, 1);
}

} // namespace pto_mlir::vector_kernels
