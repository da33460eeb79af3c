//===- TileKernel.cpp - tile the consumers, fuse the producers ------------===//
//
// Upstream's tile-and-fuse does the work; here it is told where to stop. A
// producer joins the nest of its consumer when its slices are disjoint across
// iterations, or when it does not depend on the tiled loops at all (a row
// vector, hoisted afterwards). A reduction over a tiled loop never joins: each
// tile would compute all of it.
//
//===----------------------------------------------------------------------===//

#include "Domain.h"
#include "Phases.h"
#include "TileSizes.h"
#include "WindowTiling.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

using linalg::LinalgOp;

/// Set on a sum over rows: how many rows it takes at a time, whatever the columns are cut into, so that the order of
/// additions does not depend on the number of cores.
constexpr llvm::StringLiteral kReductionRowsAttr = "pto.reduction_rows";

/// Producers of `root`, itself last, that one nest may hold: linalg ops of the
/// same block; without `reductions`, only what leads to elementwise ops.
SmallVector<LinalgOp> collectCluster(LinalgOp root, bool reductions = true) {
  llvm::SetVector<Operation *> cluster;
  cluster.insert(root);
  for (unsigned i = 0; i < cluster.size(); ++i)
    for (Value operand : cluster[i]->getOperands())
      if (auto producer = operand.getDefiningOp<LinalgOp>(); producer && !producer->hasAttr(kWindowInputAttr))
        if (producer->getBlock() == root->getBlock() && (reductions || producer.getNumReductionLoops() == 0))
          cluster.insert(producer);
  SmallVector<LinalgOp> ops;
  for (Operation *op : cluster)
    ops.push_back(cast<LinalgOp>(op));
  llvm::sort(ops, [](LinalgOp a, LinalgOp b) { return a->isBeforeInBlock(b); });
  return ops;
}

bool reducesOver(LinalgOp op, const Domain &domain, unsigned cls) {
  auto classes = domain.loopClasses(op);
  for (auto [iterator, c] : llvm::zip(op.getIteratorTypesArray(), classes))
    if (c == cls && iterator == utils::IteratorType::reduction)
      return true;
  return false;
}

/// True when `map` reads a loop of class `cls`.
bool readsClass(AffineMap map, ArrayRef<unsigned> classes, unsigned cls) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return dim && classes[dim.getPosition()] == cls;
  });
}

/// The elementwise op that makes the input of `window`, or null.
LinalgOp windowInput(LinalgOp window) {
  Value input = window.getDpsInputs()[0];
  if (auto pad = input.getDefiningOp<tensor::PadOp>())
    input = pad.getSource();
  return input.getDefiningOp<linalg::GenericOp>() ? input.getDefiningOp<LinalgOp>() : LinalgOp();
}

/// The ops of `cluster` that share a tile with `window`, whose rows, columns and channels have the given classes.
WindowTail windowTail(ArrayRef<LinalgOp> cluster, const Domain &domain, LinalgOp window, unsigned rows, unsigned cols,
                      unsigned channels) {
  WindowTail tail;
  tail.fullValues = 1;
  int64_t temporaries = 0;
  llvm::SmallDenseSet<Value> seen;
  for (LinalgOp op : cluster) {
    if (op == window || op->isBeforeInBlock(window))
      continue;
    SmallVector<unsigned> classes = domain.loopClasses(op);
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto reads = [&](unsigned cls) { return readsClass(map, classes, cls); };
      // One value per pixel (a padded average's count) is a column vector, whose rows cannot be merged either.
      tail.oneRow |= reads(rows) != reads(cols) || (reads(rows) && !reads(channels));
      if (!reads(rows) || operand.get() == window->getResult(0) || !seen.insert(operand.get()).second)
        continue;
      bool made = op.isDpsInit(&operand) || llvm::is_contained(cluster, operand.get().getDefiningOp());
      ++(made ? tail.fullValues : tail.operands);
    }
    temporaries = std::max(temporaries, liveTemporaries(op));
  }
  tail.fullValues += temporaries;
  if (LinalgOp producer = windowInput(window)) {
    tail.inputOperands = producer.getNumDpsInputs();
    tail.inputValues = tail.inputOperands + liveTemporaries(producer);
  }
  return tail;
}

class NestTiler {
public:
  /// `columnsOnly`: cut the columns of one row, without the reductions that it needs.
  NestTiler(LinalgOp root, int64_t cores, bool columnsOnly = false)
      : root(root), cores(cores), columnsOnly(columnsOnly), cluster(collectCluster(root, !columnsOnly)),
        domain(cluster), nest(makeNest(cluster, domain)) {
    // Asked before tiling: clones inside the new loop are no readers of their own. Consumers come after producers: a
    // value that an op outside of the nest reads, if only through others, is computed again there and stored by that
    // nest.
    llvm::SmallDenseSet<Operation *> shared;
    for (LinalgOp op : llvm::reverse(cluster)) {
      for (OpResult result : op->getResults())
        if (hasOtherReader(result) ||
            llvm::any_of(result.getUsers(), [&](Operation *user) { return shared.contains(user); }))
          shared.insert(op);
      for (OpResult result : op->getResults())
        if (escapes(result) && !shared.contains(op))
          stored.insert(result);
    }
  }

  /// Tiles the parallel loops of the root. Nothing happens when all fits: then all that leads to it is `done`.
  LogicalResult run(llvm::SmallDenseSet<Operation *> &done);

private:
  class ParallelSizes;

  FailureOr<SmallVector<int64_t>> chooseSizes();
  SmallVector<int64_t> columnSizes();
  std::optional<unsigned> transposedRows();
  void remarkNarrowTiles(ArrayRef<int64_t> sizes);
  SmallVector<int64_t> transpositionSizes(unsigned rows);
  int64_t rowsPerSum();
  SmallVector<OpFoldResult> tileSizes(OpBuilder &builder, ArrayRef<int64_t> sizes);
  FailureOr<SmallVector<int64_t>> chooseWindowSizes(LinalgOp window);
  std::tuple<bool, bool> control(OpResult producer);
  bool escapes(OpResult value);
  bool hasOtherReader(OpResult value);

  LinalgOp root;
  int64_t cores;
  bool columnsOnly;
  SmallVector<LinalgOp> cluster;
  Domain domain;
  Nest nest;
  llvm::SmallDenseSet<unsigned> tiledClasses;
  /// Results that are read outside of the kernel, and inside by this nest only.
  llvm::SmallDenseSet<Value> stored, yielded;
};

/// Emits a remark where tiles are one element wide or one row high.
void NestTiler::remarkNarrowTiles(ArrayRef<int64_t> sizes) {
  SmallVector<unsigned> classes = domain.loopClasses(root);
  for (auto [size, extent, cls] : llvm::zip_equal(sizes, loopBounds(root), classes))
    if (size == 1 && extent > 1 && (cls == nest.rowClass || cls == nest.colClass))
      root.emitRemark(cls == nest.colClass ? "is computed one column" : "is computed one row")
          << " at a time: more of its " << extent << " do not fit the unified buffer";
}

/// Sizes of the parallel loops of a nest of rows and columns, loop by loop.
class NestTiler::ParallelSizes {
public:
  explicit ParallelSizes(NestTiler &tiler)
      : tiler(tiler), nest(tiler.nest), classes(tiler.domain.loopClasses(tiler.root)), extents(loopBounds(tiler.root)),
        iterators(tiler.root.getIteratorTypesArray()) {
    rootHasRows = llvm::is_contained(classes, nest.rowClass);
    for (auto [i, cls] : llvm::enumerate(classes))
      if (iterators[i] == utils::IteratorType::parallel && cls != nest.rowClass && cls != nest.colClass)
        otherTiles *= extents[i];
    // What one step takes: a row of all columns, or a column of a vector.
    rowLimit = maxTileExtent(nest, tiler.domain, nest.rowClass);
    price = priceTiles(nest, tiler.domain);
  }

  SmallVector<int64_t> choose() {
    SmallVector<int64_t> sizes(extents.size(), 0);
    for (auto [i, cls] : llvm::enumerate(classes)) {
      if (iterators[i] != utils::IteratorType::parallel)
        continue;
      sizes[i] = cls == nest.rowClass ? rowSize(extents[i]) : cls == nest.colClass ? columnSize(extents[i]) : 1;
      if (sizes[i] >= extents[i])
        sizes[i] = 0;
    }
    return sizes;
  }

private:
  int64_t rowSize(int64_t extent) const {
    return rowLimit == 0 ? 1 : chooseTileExtent(price, extent, rowLimit, nest.colExtent, otherTiles, tiler.cores);
  }

  /// 0: whole.
  int64_t columnSize(int64_t extent) {
    if (isReduced(nest.colClass))
      return 0; // rows that do not fit are cut in a second step
    bool vectorOnly = nest.rowClass == ~0u;
    if (!vectorOnly && !rootHasRows && isReduced(nest.rowClass))
      return columnsOfSum(extent);
    if (!vectorOnly && (rowLimit != 0 || !rootHasRows))
      return 0;
    int64_t limit = maxTileExtent(nest, tiler.domain, nest.colClass);
    return chooseTileExtent(price, extent, std::max<int64_t>(limit, 8), 1, otherTiles, tiler.cores);
  }

  /// The sum over all rows of some columns: whole 64-byte runs.
  int64_t columnsOfSum(int64_t extent) {
    int64_t rows = tiler.rowsPerSum();
    int64_t parts = std::min<int64_t>(tiler.cores, llvm::divideCeil(nest.rowExtent * extent, 4096));
    int64_t limit = maxColumnsOfRows(nest, tiler.domain, rows);
    return std::max<int64_t>(std::min<int64_t>(limit - limit % 16, llvm::alignTo(llvm::divideCeil(extent, parts), 16)),
                             8);
  }

  bool isReduced(unsigned cls) const {
    return llvm::any_of(tiler.cluster, [&](LinalgOp op) { return reducesOver(op, tiler.domain, cls); });
  }

  NestTiler &tiler;
  const Nest &nest;
  SmallVector<unsigned> classes;
  SmallVector<int64_t> extents;
  SmallVector<utils::IteratorType> iterators;
  bool rootHasRows = false;
  int64_t otherTiles = 1, rowLimit = 0;
  TilePrice price;
};

FailureOr<SmallVector<int64_t>> NestTiler::chooseSizes() {
  for (LinalgOp op : cluster)
    if (isWindowOp(op))
      return chooseWindowSizes(op);
  if (columnsOnly)
    return columnSizes();
  if (std::optional<unsigned> rows = transposedRows())
    return transpositionSizes(*rows);
  return ParallelSizes(*this).choose();
}

/// Of the columns of one row, where they do not fit.
SmallVector<int64_t> NestTiler::columnSizes() {
  SmallVector<int64_t> extents = loopBounds(root), sizes(extents.size(), 0);
  int64_t limit = maxTileExtent(nest, domain, nest.colClass);
  for (auto [i, cls] : llvm::enumerate(domain.loopClasses(root)))
    if (cls == nest.colClass && limit < extents[i])
      sizes[i] = chooseTileExtent(priceTiles(nest, domain), extents[i], std::max<int64_t>(limit, 8), 1);
  return sizes;
}

/// Of a transposition the loop along its source's innermost dimension, which becomes the nest's rows: a tile runs along
/// the innermost dimension of both sides.
std::optional<unsigned> NestTiler::transposedRows() {
  if (cluster.size() != 1 || root.getNumDpsInputs() != 1 || root.getNumParallelLoops() != root.getNumLoops())
    return std::nullopt;
  AffineMap map = root.getMatchingIndexingMap(root.getDpsInputOperand(0));
  if (map.getNumResults() <= 1 || !map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> classes = domain.loopClasses(root);
  unsigned innermost = map.getDimPosition(map.getNumResults() - 1);
  if (classes[innermost] != nest.colClass) {
    nest.rowClass = classes[innermost];
    return innermost;
  }
  if (!readsClass(map, classes, nest.rowClass)) {
    // A copy that repeats: tiles hold rows that are read, and each tile is stored several times.
    unsigned row = map.getDimPosition(map.getNumResults() - 2);
    nest.rowClass = classes[row];
    nest.rowExtent = loopBounds(root)[row];
  }
  return std::nullopt;
}

/// Of a transposition whose source's innermost dimension is `rows`.
SmallVector<int64_t> NestTiler::transpositionSizes(unsigned rows) {
  SmallVector<int64_t> extents = loopBounds(root), sizes(extents.size(), 1);
  int64_t otherTiles = 1;
  for (auto [i, extent] : llvm::enumerate(extents))
    otherTiles *= i == rows || i + 1 == extents.size() ? 1 : extent;
  TransposedTile tile = chooseTransposedTile(root, extents[rows], extents.back(), otherTiles, cores);
  sizes[rows] = tile.rows;
  sizes.back() = tile.cols;
  for (auto [size, extent] : llvm::zip_equal(sizes, extents))
    if (size >= extent)
      size = 0;
  return sizes;
}

/// Marks the sums over rows with the number of rows that they take at a time, and returns it.
int64_t NestTiler::rowsPerSum() {
  int64_t rows = std::min(nest.rowExtent, std::max<int64_t>(64, 4096 / nest.colExtent / 8 * 8));
  // Many temporaries: fewer rows, so that whole blocks of columns fit beside them.
  while (rows > 8 && maxColumnsOfRows(nest, domain, rows) < 16)
    rows = llvm::divideCeil(rows, 2);
  for (LinalgOp op : cluster)
    if (reducesOver(op, domain, nest.rowClass))
      op->setAttr(kReductionRowsAttr, Builder(op.getContext()).getI64IntegerAttr(rows));
  return rows;
}

/// A part of one image at a time, see WindowTiling.h.
FailureOr<SmallVector<int64_t>> NestTiler::chooseWindowSizes(LinalgOp window) {
  SmallVector<unsigned> windowClasses = domain.loopClasses(window);
  AffineMap map = window.getIndexingMapMatchingResult(cast<OpResult>(window->getResult(0)));
  auto classOf = [&](unsigned dim) { return windowClasses[map.getDimPosition(dim)]; };
  unsigned n = classOf(0), oh = classOf(1), ow = classOf(2), c = classOf(3);
  nest.rowClass = oh;
  nest.colClass = c;
  WindowTail tail = windowTail(cluster, domain, window, oh, ow, c);
  WindowTile tile = chooseWindowTile(window, tail, cores);
  if (tile.rows == 0)
    return window->emitOpError("reads more input for one output pixel than the unified buffer holds");
  int64_t channels = cast<RankedTensorType>(window->getResult(0).getType()).getShape().back();
  if (tile.channels < channels && tile.channels % 8 != 0 && !isa<linalg::FillOp>(root))
    window->emitRemark("is computed ") << tile.channels << " of its " << channels
                                       << " channels at a time: the window of more does not fit the unified buffer";
  window->setAttr(kTileRowsAttr, Builder(window->getContext()).getI64IntegerAttr(tile.rows));
  SmallVector<unsigned> classes = domain.loopClasses(root);
  SmallVector<int64_t> extents = loopBounds(root);
  SmallVector<int64_t> sizes(extents.size(), 0);
  for (auto [i, cls] : llvm::enumerate(classes)) {
    if (cls == n)
      sizes[i] = 1;
    else if (cls == oh)
      sizes[i] = tile.rows;
    else if (cls == ow)
      sizes[i] = tile.cols;
    else if (cls == c)
      sizes[i] = tile.channels;
    else if (!isWindowOp(root))
      return root->emitOpError("does not follow the dimensions of the window before it");
    if (sizes[i] >= extents[i])
      sizes[i] = 0;
  }
  return sizes;
}

bool NestTiler::escapes(OpResult value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return !isa<LinalgOp>(user); });
}

bool NestTiler::hasOtherReader(OpResult value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto op = dyn_cast<LinalgOp>(user);
    return op && !llvm::is_contained(cluster, op);
  });
}

std::tuple<bool, bool> NestTiler::control(OpResult producer) {
  auto op = dyn_cast<LinalgOp>(producer.getOwner());
  if (!op || !llvm::is_contained(cluster, op))
    return {false, false};
  for (unsigned cls : tiledClasses)
    if (reducesOver(op, domain, cls))
      return {false, false};
  auto classes = domain.loopClasses(op);
  bool disjoint = llvm::all_of(tiledClasses, [&](unsigned cls) { return llvm::is_contained(classes, cls); });
  // A producer with several readers is fused once for each; one of the copies stores it.
  return {true, disjoint && stored.contains(producer) && yielded.insert(producer).second};
}

/// The sizes as operands. Of an extent that is known at run time they are at most `sizes`: few rows are cut into as
/// many parts as there are cores.
SmallVector<OpFoldResult> NestTiler::tileSizes(OpBuilder &builder, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> list = getAsIndexOpFoldResult(root.getContext(), sizes);
  SmallVector<int64_t> extents = root.getStaticLoopRanges(), bounds = loopBounds(root);
  SmallVector<unsigned> classes = domain.loopClasses(root);
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (!ShapedType::isDynamic(extent) || sizes[i] <= 1)
      continue;
    int64_t otherTiles = 1;
    for (auto [other, size] : llvm::enumerate(sizes))
      otherTiles *= other == i || size == 0 ? 1 : llvm::divideCeil(bounds[other], size);
    // Columns of a vector move in blocks.
    int64_t unit = classes[i] == nest.colClass ? 8 : 1, parts = std::max<int64_t>(cores / otherTiles, 1) * unit;
    AffineExpr whole = builder.getAffineDimExpr(0);
    AffineMap least = AffineMap::get(1, 0, {builder.getAffineConstantExpr(sizes[i]), whole.ceilDiv(parts) * unit},
                                     builder.getContext());
    auto domainOf = cast<TilingInterface>(root.getOperation()).getIterationDomain(builder);
    list[i] = affine::makeComposedFoldedAffineMin(builder, root.getLoc(), least, {domainOf[i].size});
  }
  return list;
}

LogicalResult NestTiler::run(llvm::SmallDenseSet<Operation *> &done) {
  FailureOr<SmallVector<int64_t>> sizes = chooseSizes();
  if (succeeded(sizes))
    remarkNarrowTiles(*sizes);
  if (failed(sizes))
    return failure();
  if (llvm::all_of(*sizes, [](int64_t size) { return size == 0; })) {
    for (LinalgOp op : cluster)
      done.insert(op);
    return success();
  }
  SmallVector<unsigned> classes = domain.loopClasses(root);
  // Rows outside, batches inside: the rows are what the cores share.
  SmallVector<int64_t> interchange;
  for (auto [i, cls] : llvm::enumerate(classes)) {
    if ((*sizes)[i] != 0)
      tiledClasses.insert(cls);
    if (cls == nest.rowClass && (*sizes)[i] != 0)
      interchange.insert(interchange.begin(), i);
    else
      interchange.push_back(i);
  }
  IRRewriter rewriter(root.getContext());
  rewriter.setInsertionPoint(root);
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(tileSizes(rewriter, *sizes));
  tiling.setInterchange(interchange);
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer, bool) { return control(producer); });
  FailureOr<scf::SCFTileAndFuseResult> result =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(root.getOperation()), options);
  if (failed(result))
    return root->emitOpError("cannot be tiled");
  for (auto [from, to] : result->replacements)
    rewriter.replaceAllUsesWith(from, to);
  resolveExtents(result->loops.front()->getParentOfType<func::FuncOp>());
  return success();
}

/// Tiles the reduction loop of `op` when one piece does not fit or is a sum
/// over rows, so that it accumulates into one tile; its producers come along.
LogicalResult tileReduction(LinalgOp op, bool &changed) {
  SmallVector<LinalgOp> cluster = collectCluster(op);
  // Whatever makes the initial value stays outside of the loop.
  llvm::erase_if(cluster, [&](LinalgOp producer) {
    return producer != op &&
           llvm::any_of(op.getDpsInits(), [&](Value init) { return init.getDefiningOp() == producer.getOperation(); });
  });
  Domain domain(cluster);
  Nest nest = makeNest(cluster, domain);
  SmallVector<unsigned> classes = domain.loopClasses(op);
  SmallVector<int64_t> extents = op.getStaticLoopRanges(), sizes(extents.size(), 0);
  auto iterators = op.getIteratorTypesArray();
  for (auto [i, cls] : llvm::enumerate(classes)) {
    if (iterators[i] != utils::IteratorType::reduction)
      continue;
    if (ShapedType::isDynamic(extents[i]))
      continue;
    if (cls != nest.rowClass && cls != nest.colClass) {
      sizes[i] = 1;
    } else {
      auto rows = op->getAttrOfType<IntegerAttr>(kReductionRowsAttr);
      int64_t limit = maxTileExtent(nest, domain, cls);
      if (limit == 0)
        return op->emitOpError("does not fit the unified buffer");
      if (rows && cls == nest.rowClass)
        sizes[i] = rows.getInt();
      else if (limit < extents[i])
        sizes[i] =
            chooseTileExtent(priceTiles(nest, domain), extents[i], limit, cls == nest.rowClass ? nest.colExtent : 1);
    }
    if (sizes[i] >= extents[i])
      sizes[i] = 0;
  }
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return success();
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(getAsIndexOpFoldResult(op.getContext(), sizes));
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer, bool isDestination) {
    auto owner = dyn_cast<LinalgOp>(producer.getOwner());
    bool fuse = !isDestination && owner && llvm::is_contained(cluster, owner) && owner.getNumReductionLoops() == 0;
    return std::make_tuple(fuse, false);
  });
  FailureOr<scf::SCFTileAndFuseResult> result =
      scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(result))
    return op->emitOpError("its reduction cannot be tiled");
  for (auto [from, to] : result->replacements)
    rewriter.replaceAllUsesWith(from, to);
  changed = true;
  return success();
}

/// Moves the reshapes of results to the end of the kernel: a loop that stores a
/// producer's result as well stands where its last consumer stood.
void sinkResultReshapes(Block &block) {
  SmallVector<Operation *> reshapes;
  for (Operation &op : block)
    if (isa<tensor::ExpandShapeOp>(op) &&
        llvm::all_of(op.getUsers(), [](Operation *user) { return isa<func::ReturnOp, tensor::ExpandShapeOp>(user); }))
      reshapes.push_back(&op);
  for (Operation *op : reshapes)
    op->moveBefore(block.getTerminator());
}

/// Erases slices of fused producers, which would count as readers outside of the next nest.
void eraseDeadSlices(func::FuncOp func) {
  SmallVector<Operation *> slices;
  func.walk([&](tensor::ExtractSliceOp op) { slices.push_back(op); });
  for (Operation *op : llvm::reverse(slices))
    if (op->use_empty())
      op->erase();
}

/// The last linalg op of `block` that is not in `done` and has readers.
LinalgOp nextRoot(Block &block, llvm::SmallDenseSet<Operation *> &done) {
  for (Operation &op : llvm::reverse(block))
    if (auto root = dyn_cast<LinalgOp>(op))
      if (!root->use_empty() && !root->hasAttr(kWindowInputAttr) && done.insert(root).second)
        return root;
  return nullptr;
}

} // namespace

/// A row that is reduced and read again, or reduced and stored, and does not fit: each op that stores takes the row in
/// pieces and computes what leads to them again, except for the reductions, which tileReduction cuts.
static LogicalResult splitLongRows(func::FuncOp func, int64_t cores, bool &changed) {
  SmallVector<LinalgOp> roots;
  func.walk([&](LinalgOp op) {
    bool escapes = llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<LinalgOp>(user); });
    if (!escapes || op.getNumReductionLoops() != 0 || isWindowOp(op) || op->hasAttr(kWindowInputAttr))
      return;
    SmallVector<LinalgOp> cluster = collectCluster(op);
    Domain domain(cluster);
    Nest nest = makeNest(cluster, domain);
    // Outside of any loop: nothing but the reduction of all elements reads it.
    bool reduced = isa<func::FuncOp>(op->getParentOp()) ||
                   llvm::any_of(cluster, [&](LinalgOp member) { return reducesOver(member, domain, nest.colClass); });
    if (reduced && !llvm::any_of(cluster, [](LinalgOp member) { return isWindowOp(member); }) &&
        maxTileExtent(nest, domain, nest.rowClass) == 0)
      roots.push_back(op);
  });
  for (LinalgOp root : llvm::reverse(roots)) {
    changed = true;
    llvm::SmallDenseSet<Operation *> done;
    if (failed(NestTiler(root, cores, /*columnsOnly=*/true).run(done)))
      return failure();
  }
  return success();
}

/// Marks the op that makes the input of a window, which may be padded.
static void markWindowInputs(func::FuncOp func) {
  func.walk([](LinalgOp op) {
    if (!isWindowOp(op))
      return;
    if (LinalgOp producer = windowInput(op))
      producer->setAttr(kWindowInputAttr, UnitAttr::get(op.getContext()));
  });
}

LogicalResult tileKernel(func::FuncOp func, const PhaseContext &context) {
  markWindowInputs(func);
  llvm::SmallDenseSet<Operation *> done;
  sinkResultReshapes(func.getBody().front());
  while (LinalgOp root = nextRoot(func.getBody().front(), done)) {
    if (failed(NestTiler(root, context.cores).run(done)))
      return failure();
    eraseDeadSlices(func);
  }
  if (failed(cleanUp(func, context)))
    return failure();
  bool changed = false;
  if (failed(splitLongRows(func, context.cores, changed)))
    return failure();
  SmallVector<LinalgOp> reductions;
  func.walk([&](LinalgOp op) {
    if (op.getNumReductionLoops() && !isWindowOp(op))
      reductions.push_back(op);
  });
  // Last first: a producer may move into its reader's loop.
  for (LinalgOp op : llvm::reverse(reductions))
    if (failed(tileReduction(op, changed)))
      return failure();
  return changed ? cleanUp(func, context) : success();
}

} // namespace pto_mlir::vector_kernels
