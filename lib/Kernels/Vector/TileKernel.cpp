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
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

using linalg::LinalgOp;

/// Producers of `root`, itself last, that one nest may hold: linalg ops of the
/// same block that are not reductions over `tiled` classes.
SmallVector<LinalgOp> collectCluster(LinalgOp root) {
  llvm::SetVector<Operation *> cluster;
  cluster.insert(root);
  for (unsigned i = 0; i < cluster.size(); ++i)
    for (Value operand : cluster[i]->getOperands())
      if (auto producer = operand.getDefiningOp<LinalgOp>())
        if (producer->getBlock() == root->getBlock())
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

class NestTiler {
public:
  NestTiler(LinalgOp root)
      : root(root), cluster(collectCluster(root)), domain(cluster),
        nest(makeNest(cluster, domain)) {
    // Asked before tiling: clones inside the new loop are no readers of their own.
    for (LinalgOp op : cluster)
      for (OpResult result : op->getResults())
        if (escapes(result) && !hasOtherReader(result))
          stored.insert(result);
  }

  /// Tiles the parallel loops of the root. Nothing happens when all fits.
  LogicalResult run();

private:
  FailureOr<SmallVector<int64_t>> chooseSizes();
  FailureOr<SmallVector<int64_t>> chooseWindowSizes(LinalgOp window);
  std::tuple<bool, bool> control(OpResult producer);
  bool escapes(OpResult value);
  bool hasOtherReader(OpResult value);

  LinalgOp root;
  SmallVector<LinalgOp> cluster;
  Domain domain;
  Nest nest;
  llvm::SmallDenseSet<unsigned> tiledClasses;
  /// Results that are read outside of the kernel, and inside by this nest only.
  llvm::SmallDenseSet<Value> stored, yielded;
};

FailureOr<SmallVector<int64_t>> NestTiler::chooseSizes() {
  for (LinalgOp op : cluster)
    if (isWindowOp(op))
      return chooseWindowSizes(op);
  SmallVector<unsigned> classes = domain.loopClasses(root);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  auto iterators = root.getIteratorTypesArray();
  // A transposition's tile runs along the innermost dimension of both sides.
  if (cluster.size() == 1 && root.getNumDpsInputs() == 1 && root.getNumParallelLoops() == root.getNumLoops()) {
    AffineMap map = root.getMatchingIndexingMap(root.getDpsInputOperand(0));
    if (map.getNumResults() > 1 && map.isProjectedPermutation()) {
      unsigned innermost = map.getDimPosition(map.getNumResults() - 1);
      if (classes[innermost] != nest.colClass) {
        nest.rowClass = classes[innermost];
        nest.rowExtent = extents[innermost];
      } else if (!readsClass(map, classes, nest.rowClass)) {
        // A copy that repeats: tiles hold rows that are read, and each tile is stored several times.
        unsigned row = map.getDimPosition(map.getNumResults() - 2);
        nest.rowClass = classes[row];
        nest.rowExtent = extents[row];
      }
    }
  }
  bool columnsReduced = llvm::any_of(
      cluster, [&](LinalgOp op) { return reducesOver(op, domain, nest.colClass); });
  bool rowsReduced = llvm::any_of(
      cluster, [&](LinalgOp op) { return reducesOver(op, domain, nest.rowClass); });
  SmallVector<int64_t> sizes(extents.size(), 0);
  bool rootHasRows = llvm::is_contained(classes, nest.rowClass);
  // What one step takes: a row of all columns, or a column of a vector.
  int64_t rowLimit = maxTileExtent(nest, domain, nest.rowClass);
  for (auto [i, cls] : llvm::enumerate(classes)) {
    if (iterators[i] != utils::IteratorType::parallel)
      continue;
    if (cls == nest.rowClass) {
      if (rowLimit == 0 && columnsReduced)
        return root->emitOpError("reduces over a row of ")
               << nest.colExtent << " elements, which does not fit the unified buffer";
      sizes[i] = rowLimit == 0 ? 1 : chooseTileExtent(extents[i], rowLimit, nest.colExtent);
    } else if (cls == nest.colClass) {
      bool vectorOnly = nest.rowClass == ~0u;
      if (columnsReduced || (!vectorOnly && rowLimit != 0) || (!vectorOnly && !rootHasRows && !rowsReduced))
        continue;
      int64_t limit = maxTileExtent(nest, domain, nest.colClass);
      sizes[i] = chooseTileExtent(extents[i], std::max<int64_t>(limit, 8), 1);
    } else {
      sizes[i] = 1;
    }
    if (sizes[i] >= extents[i])
      sizes[i] = 0;
  }
  return sizes;
}

/// One output row of one image at a time, all columns (pixels) of it, and as many
/// channels as fit: a divisor of their number, so that no tile is ragged.
FailureOr<SmallVector<int64_t>> NestTiler::chooseWindowSizes(LinalgOp window) {
  SmallVector<unsigned> windowClasses = domain.loopClasses(window);
  auto output = cast<RankedTensorType>(window->getResult(0).getType());
  auto input = cast<RankedTensorType>(window.getDpsInputs()[0].getType());
  AffineMap map = window.getIndexingMapMatchingResult(cast<OpResult>(window->getResult(0)));
  auto classOf = [&](unsigned dim) { return windowClasses[map.getDimPosition(dim)]; };
  unsigned n = classOf(0), oh = classOf(1), ow = classOf(2), c = classOf(3);
  nest.rowClass = oh;
  nest.colClass = c;
  // Input row (and its f32 form), accumulator, product and filters of the window
  // itself, then the values of the elementwise tail. Undoubled: the rows of one
  // chunk are long enough to hide a load behind.
  int64_t width = output.getDimSize(2), channels = output.getDimSize(3);
  bool converts = input.getElementType() != output.getElementType();
  int64_t bytesPerChannel = 4 * ((converts ? 2 : 1) * (input.getDimSize(2) + 8) + 2 * width + 16);
  for (LinalgOp op : cluster)
    if (op != window && isa<linalg::GenericOp>(op.getOperation()))
      bytesPerChannel += 4 * width * op.getNumDpsInputs();
  int64_t limit = kUnifiedBufferBudget / bytesPerChannel, chunk = channels;
  while (chunk > 1 && (chunk > limit || channels % chunk != 0))
    --chunk;
  if (limit == 0)
    return window->emitOpError("an output row of ")
           << width << " pixels does not fit the unified buffer";
  SmallVector<unsigned> classes = domain.loopClasses(root);
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  SmallVector<int64_t> sizes(extents.size(), 0);
  for (auto [i, cls] : llvm::enumerate(classes)) {
    if (cls == n || cls == oh)
      sizes[i] = 1;
    else if (cls == c)
      sizes[i] = chunk;
    else if (cls != ow && !isWindowOp(root))
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
  bool disjoint = llvm::all_of(
      tiledClasses, [&](unsigned cls) { return llvm::is_contained(classes, cls); });
  // A producer with several readers is fused once for each; one of the copies stores it.
  return {true, disjoint && stored.contains(producer) && yielded.insert(producer).second};
}

LogicalResult NestTiler::run() {
  FailureOr<SmallVector<int64_t>> sizes = chooseSizes();
  if (failed(sizes))
    return failure();
  if (llvm::all_of(*sizes, [](int64_t size) { return size == 0; }))
    return success();
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
  tiling.setTileSizes(getAsIndexOpFoldResult(root.getContext(), *sizes));
  tiling.setInterchange(interchange);
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn([&](tensor::ExtractSliceOp, OpResult producer, bool) {
    return control(producer);
  });
  FailureOr<scf::SCFTileAndFuseResult> result = scf::tileConsumerAndFuseProducersUsingSCF(
      rewriter, cast<TilingInterface>(root.getOperation()), options);
  if (failed(result))
    return root->emitOpError("cannot be tiled");
  for (auto [from, to] : result->replacements)
    rewriter.replaceAllUsesWith(from, to);
  return success();
}

/// Tiles the reduction loop of `op` when one piece does not fit or is a sum
/// over rows, so that it accumulates into one tile; its producers come along.
LogicalResult tileReduction(LinalgOp op, bool &changed) {
  SmallVector<LinalgOp> cluster = collectCluster(op);
  // Whatever makes the initial value stays outside of the loop.
  llvm::erase_if(cluster, [&](LinalgOp producer) {
    return producer != op && llvm::any_of(op.getDpsInits(), [&](Value init) {
             return init.getDefiningOp() == producer.getOperation();
           });
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
      int64_t limit = maxTileExtent(nest, domain, cls);
      if (limit == 0)
        return op->emitOpError("does not fit the unified buffer");
      if (limit < extents[i])
        sizes[i] = chooseTileExtent(extents[i], limit, cls == nest.rowClass ? nest.colExtent : 1);
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
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer, bool isDestination) {
        auto owner = dyn_cast<LinalgOp>(producer.getOwner());
        bool fuse = !isDestination && owner && llvm::is_contained(cluster, owner) &&
                    owner.getNumReductionLoops() == 0;
        return std::make_tuple(fuse, false);
      });
  FailureOr<scf::SCFTileAndFuseResult> result = scf::tileConsumerAndFuseProducersUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
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
    if (isa<tensor::ExpandShapeOp>(op) && llvm::all_of(op.getUsers(), [](Operation *user) {
          return isa<func::ReturnOp, tensor::ExpandShapeOp>(user);
        }))
      reshapes.push_back(&op);
  for (Operation *op : reshapes)
    op->moveBefore(block.getTerminator());
}

/// The last linalg op of `block` that is not in `done` and has readers.
LinalgOp nextRoot(Block &block, llvm::SmallDenseSet<Operation *> &done) {
  for (Operation &op : llvm::reverse(block))
    if (auto root = dyn_cast<LinalgOp>(op))
      if (!root->use_empty() && done.insert(root).second)
        return root;
  return nullptr;
}

} // namespace

LogicalResult tileKernel(func::FuncOp func, const PhaseContext &context) {
  llvm::SmallDenseSet<Operation *> done;
  sinkResultReshapes(func.getBody().front());
  while (LinalgOp root = nextRoot(func.getBody().front(), done))
    if (failed(NestTiler(root).run()))
      return failure();
  if (failed(cleanUp(func, context)))
    return failure();
  SmallVector<LinalgOp> reductions;
  func.walk([&](LinalgOp op) {
    if (op.getNumReductionLoops() && !isWindowOp(op))
      reductions.push_back(op);
  });
  bool changed = false;
  // Last first: a producer may move into its reader's loop.
  for (LinalgOp op : llvm::reverse(reductions))
    if (failed(tileReduction(op, changed)))
      return failure();
  return changed ? cleanUp(func, context) : success();
}

} // namespace pto_mlir::vector_kernels
