//===- Clusters.cpp - which ops share a kernel ----------------------------===//

#include "Clusters.h"

#include "ClusterOrder.h"
#include "MovementTrees.h"

#include "../Attention/Attention.h"
#include "../Cube/StridedView.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Kernels/Templates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pto_mlir::kernels {
namespace {

// Row vectors up to this size are recomputed in every tile instead of launched.
constexpr int64_t kCheapVectorElements = 4096;
// Vector operations per element up to which a window makes its input itself, rather than a kernel before it: a
// hardswish of f32, which saves its bytes in about the same time, but only a clip of what has to be widened as well.
constexpr int64_t kCheapInput = 5, kCheapNarrowInput = 2;

class Builder {
public:
  Builder(Block &block, bool keepAll) : block(block), keepAll(keepAll) {}
  FailureOr<Clusters> run();

private:
  Cluster *create(OpRole kind, Operation *op);
  void absorbViews(Cluster &cube);
  void absorbTail(Cluster &cube);
  void absorbHeads(Cluster &attention);
  void absorbExtension(Cluster &attention);
  void absorbTwins(Cluster &cluster);
  void absorbInput(Cluster &cluster);
  void absorbMovedTail(Cluster &cube);
  bool isOnlyViewed(Operation *op);
  void dropViewedMovements();
  void readMoved(Cluster &reader, llvm::DenseMap<Operation *, Cluster *> &dropped, SmallVectorImpl<Operation *> &kept);
  void place(linalg::GenericOp op, OpRole role);
  bool accepts(const Cluster &cluster, linalg::GenericOp op, OpRole role);
  void join(linalg::GenericOp op, OpRole role, ArrayRef<Cluster *> parts);
  void merge(Cluster &into, Cluster &from);
  static void takeRole(Cluster &into, const Cluster &from);
  void restoreProgramOrder();
  void joinCheapVectors();

  Block &block;
  bool keepAll;
  Clusters result;
  ClusterOrder order{block, result};
  unsigned numFormed = 0;
  llvm::DenseMap<Operation *, SmallVector<Cluster *, 1>> viewers; // by what they view
};

Cluster *Builder::create(OpRole kind, Operation *op) {
  Cluster &cluster = result.all.emplace_back();
  cluster.formed = ++numFormed;
  cluster.kind = kind;
  cluster.ops.push_back(op);
  result.of[op] = &cluster;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (kind == OpRole::Window)
      llvm::append_range(cluster.domain, cast<ShapedType>(op->getResultTypes()[0]).getShape());
    else
      llvm::append_range(cluster.domain, linalgOp.getStaticLoopRanges());
    if (kind == OpRole::RowReduction)
      cluster.reducedLoops = linalgOp.getNumReductionLoops();
  }
  return &cluster;
}

// The fixpipe applies the epilogue; no other op may follow, and the value before
// them must have one use.
void Builder::absorbTail(Cluster &cube) {
  Operation *last = cube.ops.front();
  while (true) {
    Value value = last->getResult(0);
    if (!value.hasOneUse())
      return;
    Operation *user = *value.user_begin();
    // A grouped convolution's [.., G, F] result is seen through its collapse.
    SmallVector<Operation *, 2> step;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
      if (cube.ops.size() > 1 || !collapse.getResult().hasOneUse())
        return;
      step.push_back(collapse);
      user = *collapse->user_begin();
    }
    auto generic = dyn_cast<linalg::GenericOp>(user);
    bool computes = generic && !generic.getBlock()->without_terminator().empty();
    if (!computes || result.of.contains(generic) || !cube.epilogue.take(generic))
      return;
    step.push_back(generic);
    for (Operation *op : step) {
      cube.ops.push_back(op);
      result.of[op] = &cube;
    }
    last = generic;
  }
}

// An attention reads the heads in the projection's result, at their stride.
void Builder::absorbHeads(Cluster &attention) {
  auto op = cast<top::AttentionOp>(attention.ops.front());
  for (unsigned operand = 0; operand < 3; ++operand) {
    SmallVector<Operation *> chain;
    for (Value value = op->getOperand(operand); cube::isView(value.getDefiningOp());
         value = value.getDefiningOp()->getOperand(0))
      chain.push_back(value.getDefiningOp());
    for (; llvm::any_of(chain, cube::isMovingView); chain.pop_back()) {
      if (!attention::operandHeads(op, operand, chain.back()->getOperand(0)))
        continue;
      attention.views.insert(chain.begin(), chain.end());
      break;
    }
  }
}

// The attention kernel normalises in f32 and rounds when it stores.
void Builder::absorbExtension(Cluster &attention) {
  Value value = attention.ops.front()->getResult(0);
  auto generic = value.hasOneUse() ? dyn_cast<linalg::GenericOp>(*value.user_begin()) : linalg::GenericOp();
  if (!generic || !isExtension(generic))
    return;
  attention.ops.push_back(generic);
  result.of[generic] = &attention;
}

// Template ops that compute the same way from the same operands share a kernel.
void Builder::absorbTwins(Cluster &cluster) {
  Operation *op = cluster.ops.front();
  for (Operation *user : op->getOperand(0).getUsers())
    if (user->getBlock() == &block && !result.of.contains(user) &&
        llvm::all_of(cluster.ops, [&](Operation *twin) { return templates::shareKernel(twin, user); })) {
      cluster.ops.push_back(user);
      result.of[user] = &cluster;
    }
}

static bool isProduct(Operation *op) {
  return isa<linalg::MatmulOp, linalg::MatmulTransposeBOp, linalg::BatchMatmulOp, linalg::BatchMatmulTransposeBOp>(op);
}

static int64_t elementsOf(Value value) { return cast<ShapedType>(value.getType()).getNumElements(); }

// Views of one operand, the last first, of whose first one the source is read in place.
using ViewChain = SmallVector<Operation *>;

// Are they rows of one matrix?
static bool areRows(const ViewChain &chain) {
  Value source = chain.back()->getOperand(0);
  std::optional<cube::StridedView> view = cube::contiguous(cast<ShapedType>(source.getType()).getShape());
  for (Operation *step : llvm::reverse(chain))
    view = view ? cube::viewOfResult(step, *view) : view;
  return view && cube::asBlocks(*view, elementsOf(source));
}

// A matrix product reads rows at any stride, so it absorbs the views of its
// operand (a head of a row, one third of a fused QKV projection).
void Builder::absorbViews(Cluster &cube) {
  Operation *product = cube.ops.front();
  if (!isProduct(product))
    return;
  for (Value operand : product->getOperands().take_front(2)) {
    SmallVector<Operation *> chain;
    for (Value value = operand; cube::isView(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
      chain.push_back(value.getDefiningOp());
    for (; llvm::any_of(chain, cube::isMovingView); chain.pop_back())
      if (areRows(chain)) { // the longest part
        cube.views.insert(chain.begin(), chain.end());
        break;
      }
  }
}

// Likewise for the result: the product stores rows in the transposed order.
void Builder::absorbMovedTail(Cluster &cube) {
  if (!isProduct(cube.ops.front()))
    return;
  SmallVector<Operation *> chain;
  Value value = cube.ops.back()->getResult(0);
  for (; value.hasOneUse() &&
         isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, linalg::TransposeOp>(*value.user_begin()) &&
         cube::isView(*value.user_begin());
       value = chain.back()->getResult(0))
    chain.push_back(*value.user_begin());
  while (!chain.empty() && !cube::isMovingView(chain.back()))
    chain.pop_back();
  if (chain.empty())
    return;
  Value last = chain.back()->getResult(0);
  std::optional<cube::StridedView> view = cube::contiguous(cast<ShapedType>(last.getType()).getShape());
  for (Operation *step : llvm::reverse(chain))
    view = view ? cube::viewOfSource(step, *view) : view;
  if (!view || !cube::asBlocks(*view, elementsOf(last)))
    return;
  for (Operation *op : chain) {
    cube.ops.push_back(op);
    result.of[op] = &cube;
  }
}

// Do only products, attentions and movements read `op`, through views of their own?
bool Builder::isOnlyViewed(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    Cluster *cluster = result.of.lookup(user);
    bool views = cluster && llvm::is_contained({OpRole::Cube, OpRole::Attention, OpRole::Movement}, cluster->kind);
    if (views && user == cluster->ops.front())
      return cluster->views.contains(op);
    // A movement that is kept needs its source, and so does who reads a view but not what the view is of.
    auto readsIt = [&](Cluster *viewer) { return viewer->views.contains(op); };
    return !cluster && (cube::isView(user) || classify(user) == OpRole::Movement) &&
           llvm::all_of(viewers.lookup(user), readsIt) && isOnlyViewed(user);
  });
}

// Takes movements that are kept, and what is behind them but cannot be read at its strides from there, from the views.
void Builder::readMoved(Cluster &reader, llvm::DenseMap<Operation *, Cluster *> &dropped,
                        SmallVectorImpl<Operation *> &kept) {
  // A movement copies whatever is not kept.
  if (reader.kind == OpRole::Movement)
    return;
  Operation *op = reader.ops.front();
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
    ViewChain chain;
    for (Value value = op->getOperand(operand); reader.views.contains(value.getDefiningOp());
         value = value.getDefiningOp()->getOperand(0))
      chain.push_back(value.getDefiningOp());
    if (llvm::none_of(chain, cube::isMovingView))
      continue;
    bool isRead =
        reader.kind == OpRole::Attention
            ? attention::operandHeads(cast<top::AttentionOp>(op), operand, chain.back()->getOperand(0)).has_value()
            : areRows(chain);
    if (isRead)
      continue;
    for (Operation *view : chain) {
      reader.views.remove(view);
      auto cluster = dropped.find(view);
      if (cluster == dropped.end())
        continue;
      cluster->second->alive = true;
      cluster->second->ops.push_back(view);
      result.of[view] = cluster->second;
      dropped.erase(cluster);
      kept.push_back(view);
    }
  }
}

// Erases movements without uses, in reverse order. A debug build keeps named ones; readers of a movement that is kept
// read its result.
void Builder::dropViewedMovements() {
  llvm::DenseMap<Operation *, Cluster *> dropped;
  SmallVector<Operation *> kept;
  for (Cluster &cluster : result.all)
    for (Operation *op : cluster.views)
      viewers[op].push_back(&cluster);
  for (Cluster &cluster : llvm::reverse(result.all)) {
    if (cluster.kind != OpRole::Movement || !cluster.alive || !viewers.contains(cluster.ops.front()))
      continue;
    Operation *op = cluster.ops.front();
    if (!isOnlyViewed(op) || (keepAll && !top::getTensorName(op->getResult(0)).empty())) {
      kept.push_back(op);
      continue;
    }
    cluster.alive = false;
    cluster.ops.clear();
    result.of.erase(op);
    dropped[op] = &cluster;
  }
  while (!kept.empty()) {
    Operation *op = kept.pop_back_val();
    for (Cluster *viewer : viewers[op]) {
      viewer->views.remove(op);
      readMoved(*viewer, dropped, kept);
    }
  }
}

static bool usedOnlyIn(const Cluster &cluster, const Clusters &clusters, Operation *extra) {
  for (Operation *op : cluster.ops)
    for (Operation *user : op->getUsers())
      if (user != extra && clusters.of.lookup(user) != &cluster)
        return false;
  return true;
}

static bool hasNamedValue(const Cluster &cluster) {
  return llvm::any_of(cluster.ops, [](Operation *op) { return !top::getTensorName(op->getResult(0)).empty(); });
}

/// Reads its operands pixel by pixel, or as vectors over the channels.
static bool worksOnPixels(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumDpsInits() == 1 && llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
           bool channels =
               map.getNumResults() == 1 && map.getResult(0) == getAffineDimExpr(map.getNumDims() - 1, map.getContext());
           return readsAllLoops(map) || channels || map.getNumResults() == 0;
         });
}

/// Body ops of elementwise `ops`, what a function expands to counted as one that is not cheap.
static int64_t workPerElement(ArrayRef<Operation *> ops) {
  int64_t count = 0;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      bool free = isa<arith::ConstantOp, arith::ExtFOp, arith::TruncFOp>(inner);
      count += isa<math::MathDialect>(inner->getDialect()) ? kCheapInput + 1
                                                           : isa<arith::ArithDialect>(inner->getDialect()) && !free;
    });
  return count;
}

/// May join-kernels compute the chain behind a product, tile by tile?
static bool followsProduct(const Cluster &chain, const Clusters &clusters) {
  return llvm::any_of(chain.ops, [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      Cluster *cluster = producer ? clusters.of.lookup(producer) : nullptr;
      return cluster && cluster->kind == OpRole::Cube && cluster->ops.back() == producer;
    });
  });
}

// A chain of elementwise ops whose result only this window or transposition reads is applied to what that loads. A
// window loads pixels again for the tiles beside, and few at a time: what takes long stays behind a product.
void Builder::absorbInput(Cluster &cluster) {
  Operation *reader = cluster.ops.front();
  bool moves = isa<linalg::TransposeOp>(reader);
  // The border of a window is made in its kernel; any other is a kernel of its own.
  if (auto pad = reader->getOperand(0).getDefiningOp<tensor::PadOp>()) {
    if (moves || !pad->hasOneUse())
      return;
    reader = pad;
  }
  Operation *last = reader->getOperand(0).getDefiningOp();
  Cluster *chain = last ? result.of.lookup(last) : nullptr;
  if (!chain || chain->kind != OpRole::Elementwise || chain->ops.back() != last || (keepAll && hasNamedValue(*chain)))
    return;
  bool fits = llvm::all_of(chain->ops, [&](Operation *op) {
    // Each operand would be transposed.
    if (!worksOnPixels(op) || !op->hasOneUse() || (moves && cast<linalg::GenericOp>(op).getNumDpsInputs() != 1))
      return false;
    Operation *user = *op->user_begin();
    return op == last ? user == reader : result.of.lookup(user) == chain;
  });
  bool narrow = getElementTypeOrSelf(last->getResult(0)).getIntOrFloatBitWidth() < 32;
  bool costly = !moves && workPerElement(chain->ops) > (narrow ? kCheapNarrowInput : kCheapInput) &&
                followsProduct(*chain, result);
  if (fits && !costly)
    merge(cluster, *chain);
}

/// Does an operand of `op` read some of its innermost `count` loops but not all? A tile that reduces them needs them as
/// one dimension.
static bool readsPartOf(Operation *op, unsigned count) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return count > 1 && generic && llvm::any_of(generic.getIndexingMapsArray(), [&](AffineMap map) {
           unsigned read = llvm::count_if(map.getResults(), [&](AffineExpr expr) {
             auto dim = dyn_cast<AffineDimExpr>(expr);
             return dim && dim.getPosition() + count >= map.getNumDims();
           });
           return read != 0 && read != count;
         });
}

/// The loops that `cluster`'s rows are reduced over, if another op's tiles must have them as one dimension.
static unsigned reducedTogether(const Cluster &cluster) {
  return cluster.kind == OpRole::RowReduction ? cluster.reducedLoops : 0;
}

/// Is no tile shared by the ops of `a` and the reduction of `b` possible?
static bool splitsRows(const Cluster &a, const Cluster &b) {
  return reducedTogether(b) > 1 && a.domain == b.domain &&
         llvm::any_of(a.ops, [&](Operation *op) { return readsPartOf(op, reducedTogether(b)); });
}

bool Builder::accepts(const Cluster &cluster, linalg::GenericOp op, OpRole role) {
  SmallVector<int64_t> domain = op.getStaticLoopRanges();
  ArrayRef<int64_t> rows = ArrayRef(cluster.domain).drop_back(cluster.reducedLoops);
  // How `op` reads what the cluster computes.
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Operation *producer = operand->get().getDefiningOp();
    if (!producer || result.of.lookup(producer) != &cluster)
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (readsAllLoops(map))
      continue;
    // Row statistics spread along the row.
    bool rowStatistic =
        cluster.kind == OpRole::RowReduction && map.getNumResults() == rows.size() &&
        map == AffineMap::getMultiDimIdentityMap(map.getNumDims(), op.getContext()).getMajorSubMap(rows.size());
    if (!rowStatistic)
      return false;
  }
  switch (role) {
  case OpRole::Elementwise:
    if (cluster.kind == OpRole::Elementwise || cluster.kind == OpRole::Window)
      return cluster.domain == domain;
    if (cluster.kind == OpRole::RowReduction)
      return cluster.domain == domain ? !readsPartOf(op, cluster.reducedLoops) : rows == ArrayRef(domain);
    if (cluster.kind == OpRole::ColumnReduction)
      // What follows the reduction has its result's shape; spreading it back
      // over the rows needs a finished reduction, hence another kernel.
      return cast<ShapedType>(op->getResultTypes()[0]).getShape() ==
             cast<ShapedType>(cluster.ops.back()->getResultTypes()[0]).getShape();
    return false;
  case OpRole::RowReduction:
    if (cluster.kind == OpRole::Elementwise)
      return cluster.domain == domain && llvm::none_of(cluster.ops, [&](Operation *member) {
               return readsPartOf(member, op.getNumReductionLoops());
             });
    return cluster.kind == OpRole::RowReduction && cluster.domain == domain &&
           cluster.reducedLoops == op.getNumReductionLoops();
  case OpRole::ColumnReduction:
    // The accumulating loop can store nothing per row.
    return cluster.kind == OpRole::Elementwise && cluster.domain == domain && usedOnlyIn(cluster, result, op) &&
           !(keepAll && hasNamedValue(cluster));
  default:
    return false;
  }
}

/// Sorts the ops of every cluster into program order; called once, after forming.
void Builder::merge(Cluster &into, Cluster &from) {
  for (Operation *op : from.ops) {
    into.ops.push_back(op);
    result.of[op] = &into;
  }
  if (from.kind != OpRole::Elementwise)
    takeRole(into, from);
  from.ops.clear();
  from.alive = false;
}

void Builder::takeRole(Cluster &into, const Cluster &from) {
  into.kind = from.kind;
  into.domain = from.domain;
  into.reducedLoops = from.reducedLoops;
}

/// The cluster of `op` and `parts`: it grows from the largest of them, so that an op is moved at most log n times.
void Builder::join(linalg::GenericOp op, OpRole role, ArrayRef<Cluster *> parts) {
  Cluster &own = *create(role, op);
  for (Cluster *part : parts)
    if (part->kind != OpRole::Elementwise)
      takeRole(own, *part);
  Cluster *largest = *llvm::max_element(parts, [](Cluster *a, Cluster *b) { return a->ops.size() < b->ops.size(); });
  size_t before = largest->ops.size();
  for (Cluster *part : parts)
    if (part != largest)
      merge(*largest, *part);
  merge(*largest, own);
  takeRole(*largest, own);
  largest->formed = own.formed;
  order.grow(largest, ArrayRef(largest->ops).drop_front(before));
}

void Builder::place(linalg::GenericOp op, OpRole role) {
  llvm::SmallSetVector<Cluster *, 4> producers;
  for (Value operand : op.getDpsInputs())
    if (Operation *producer = operand.getDefiningOp())
      if (Cluster *cluster = result.of.lookup(producer))
        producers.insert(cluster);
  SmallVector<Cluster *> joined;
  Cluster *strong = nullptr; // at most one window or reduction per kernel
  for (Cluster *cluster : llvm::reverse(producers)) {
    if (!accepts(*cluster, op, role))
      continue;
    if (cluster->kind != OpRole::Elementwise) {
      bool sameRows = strong && strong->kind == OpRole::RowReduction && cluster->kind == OpRole::RowReduction &&
                      strong->domain == cluster->domain && strong->reducedLoops == cluster->reducedLoops;
      if (strong && !sameRows)
        continue;
    }
    // An elementwise part that runs over the rows only (or over the whole
    // domain) fits a row reduction; any other mixture of domains does not.
    if (!joined.empty() && cluster->domain != joined.front()->domain)
      continue;
    if (llvm::any_of(joined,
                     [&](Cluster *other) { return splitsRows(*cluster, *other) || splitsRows(*other, *cluster); }))
      continue;
    joined.push_back(cluster);
    if (order.wouldCycle(joined, op)) {
      joined.pop_back();
      continue;
    }
    if (cluster->kind != OpRole::Elementwise)
      strong = cluster;
  }
  if (!joined.empty())
    return join(op, role, joined);
  create(role, op);
  order.add(op);
}

// A chain on one row vector (the gate of squeeze-and-excite) moves into the
// kernel that broadcasts it, if that is its only user.
void Builder::joinCheapVectors() {
  SmallVector<Cluster *> clusters = llvm::map_to_vector(result.all, [](Cluster &cluster) { return &cluster; });
  llvm::sort(clusters, [](Cluster *a, Cluster *b) { return a->formed < b->formed; });
  for (Cluster *cluster : clusters) {
    Cluster &vector = *cluster;
    if (!vector.alive || vector.kind != OpRole::Elementwise || vector.domain.empty())
      continue;
    int64_t size = ShapedType::getNumElements(vector.domain);
    if (size != vector.domain.back() || size > kCheapVectorElements)
      continue;
    Cluster *user = nullptr;
    bool single = true;
    for (Operation *op : vector.ops)
      for (Operation *consumer : op->getUsers()) {
        Cluster *other = result.of.lookup(consumer);
        if (other == &vector)
          continue;
        if (!other || (user && user != other))
          single = false;
        user = other;
      }
    if (!single || !user || !user->alive || user->kind != OpRole::Elementwise ||
        ShapedType::getNumElements(user->domain) <= size || user->domain.back() != size)
      continue;
    merge(*user, vector);
  }
}

void Builder::restoreProgramOrder() {
  for (Cluster &cluster : result.all)
    llvm::sort(cluster.ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

FailureOr<Clusters> Builder::run() {
  for (Operation &op : block) {
    if (result.of.contains(&op))
      continue;
    OpRole role = classify(&op);
    switch (role) {
    case OpRole::Host:
    case OpRole::Init:
    case OpRole::Pad:
      order.add(&op);
      break;
    case OpRole::Cube: {
      Cluster &cube = *create(role, &op);
      absorbViews(cube);
      absorbTail(cube);
      absorbMovedTail(cube);
      order.add(&op);
      break;
    }
    case OpRole::Window:
      absorbInput(*create(role, &op));
      order.add(&op);
      break;
    case OpRole::Attention:
      absorbHeads(*create(role, &op));
      absorbExtension(*result.of.lookup(&op));
      order.add(&op);
      break;
    case OpRole::Template:
      absorbTwins(*create(role, &op));
      order.add(&op);
      break;
    case OpRole::Recurrence:
      create(role, &op);
      order.add(&op);
      break;
    case OpRole::Movement: {
      Cluster &movement = *create(role, &op);
      SmallVector<Operation *> tree = keepAll ? SmallVector<Operation *>() : movementTree(&op);
      movement.views.insert(tree.begin(), tree.end());
      order.add(&op);
      break;
    }
    case OpRole::Elementwise:
    case OpRole::RowReduction:
    case OpRole::ColumnReduction:
      place(cast<linalg::GenericOp>(op), role);
      break;
    case OpRole::Unknown:
      return op.emitOpError("fits no kernel; form-kernels takes what convert-top-to-linalg leaves "
                            "(docs/lowering.md section 3)"),
             failure();
    }
  }
  dropViewedMovements();
  for (Cluster &cluster : result.all)
    if (cluster.alive && isa<linalg::TransposeOp>(cluster.ops.front()))
      absorbInput(cluster);
  if (!keepAll)
    joinCheapVectors();
  restoreProgramOrder();
  return std::move(result);
}

} // namespace

FailureOr<Clusters> formClusters(Block &block, bool keepAll) { return Builder(block, keepAll).run(); }

} // namespace pto_mlir::kernels
