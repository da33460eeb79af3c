// CumSum and CumProd along an axis. A sum of floats is a product with a triangular matrix of ones, of a long axis block
// by block; anything else takes log2(n) steps, after each of which an element has accumulated twice as many.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

constexpr int64_t kMostByProduct = 256; ///< the matrix of more takes longer to load than three launches more take
constexpr int64_t kBlock = 64;
constexpr int64_t kMostByBlocks = 4096 * kBlock;

struct Cumulation {
  int64_t axis, size;
  bool exclusive, reverse;
};

/// Reads attributes and the axis; reports errors.
std::optional<Cumulation> readCumulation(Node &node) {
  RankedTensorType type = node.type(0);
  Cumulation c{0, 0, node.intAttr("exclusive", 0) != 0, node.intAttr("reverse", 0) != 0};
  std::optional<SmallVector<int64_t>> list = node.ints(1, "axis");
  if (!list)
    return std::nullopt;
  if (list->size() != 1) {
    (void)node.error("takes one axis");
    return std::nullopt;
  }
  std::optional<int64_t> axis = node.axis(list->front(), type.getRank());
  if (!axis)
    return std::nullopt;
  c.axis = *axis;
  c.size = type.getDimSize(*axis);
  return c;
}

/// Every element is `distance` further along the axis; the first ones are `neutral`.
Value shifted(Node &node, Value value, const Cumulation &c, int64_t distance, double neutral) {
  if (!value)
    return value;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  SmallVector<int64_t> starts(shape.size(), 0), ends(shape), steps(shape.size(), 1), pads(2 * shape.size(), 0);
  (c.reverse ? starts[c.axis] : ends[c.axis]) = c.reverse ? distance : c.size - distance;
  pads[c.axis + (c.reverse ? shape.size() : 0)] = distance;
  Value kept = node.create<top::SliceOp>(
      "", value, {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
  return kept ? node.create<top::PadOp>("", kept, {node.i64s("pads", pads), node.f64("value", neutral)}) : kept;
}

/// In log2(n) steps.
template <typename OpTy> LogicalResult byDoubling(Node &node, const Cumulation &c, double neutral) {
  Value value = node.input(0);
  if (c.exclusive && c.size <= 1)
    return node.finish(node.filled(node.outputName(), node.type(0), neutral));
  if (c.exclusive)
    value = shifted(node, value, c, 1, neutral);
  for (int64_t distance = 1; value && distance < c.size; distance *= 2) {
    bool last = 2 * distance >= c.size;
    Value earlier = shifted(node, value, c, distance, neutral);
    value = earlier ? node.create<OpTy>(last ? node.outputName() : "", {value, earlier}) : earlier;
  }
  return node.finish(value);
}

/// A matrix of ones that sums what comes before (behind, in reverse) each of `size` elements, itself unless
/// `exclusive`.
Value triangle(Node &node, StringRef suffix, int64_t size, bool exclusive, bool reverse) {
  std::vector<double> ones(size * size, 0.0);
  for (int64_t from = 0; from < size; ++from)
    for (int64_t to = 0; to < size; ++to)
      ones[from * size + to] = (reverse ? from > to : from < to) || (from == to && !exclusive);
  OpBuilder &b = node.builder();
  Type element = node.type(0).getElementType();
  return top::createConstant(b, b.getUnknownLoc(), (node.outputName() + suffix).str(),
                             RankedTensorType::get({size, size}, element), top::fromDoubles(element, ones));
}

/// Sums of rows by products with matrices of ones.
class Products {
public:
  Products(Node &node, const Cumulation &c)
      : node(node), f(node), c(c), isLong(c.size > kMostByProduct), blocks(llvm::divideCeil(c.size, kBlock)),
        within(triangle(node, "_triangle", isLong ? kBlock : c.size, c.exclusive, c.reverse)),
        between(isLong ? triangle(node, "_blocks", blocks, true, c.reverse) : Value()) {}

  /// Of rows [r, n]. An element that is infinite or NaN is what every sum from it on is, and no sum before it; times
  /// the zeros of the matrix it would be NaN in all of them. So it is 0 in the products, and others count such
  /// elements.
  Value of(Value rows) {
    if (isFinite(rows))
      return finite(rows);
    Value zero = f.constant(rows, 0), one = f.constant(rows, 1);
    Value low = f.compare(rows, "gt", -kInfinity), high = f.compare(rows, "lt", kInfinity); // of NaN neither
    Value sums = finite(f.where(low, f.where(high, rows, zero), zero));
    sums = raised(sums, finite(f.where(high, zero, one)), kInfinity);
    return raised(sums, finite(f.where(low, zero, one)), -kInfinity);
  }

private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  static bool isFinite(Value rows) {
    while (Operation *op = rows.getDefiningOp()) {
      if (auto cast = dyn_cast<top::CastOp>(op))
        return getElementTypeOrSelf(cast.getInput().getType()).isInteger();
      if (!isa<top::ReshapeOp, top::PermuteOp>(op))
        break;
      rows = op->getOperand(0);
    }
    return false;
  }

  Value raised(Value sums, Value count, double by) {
    Value more = f.where(f.compare(count, "gt", 0), f.constant(sums, by), f.constant(sums, 0));
    return node.create<top::AddOp>("", {sums, more});
  }

  Value finite(Value rows) { return isLong ? byBlocks(rows) : node.create<top::MatMulOp>("", {rows, within}); }

  /// Sums within blocks, and of the blocks before. What is missing in the last block is 0.
  Value byBlocks(Value rows) {
    if (!rows)
      return rows;
    int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
    if (blocks * kBlock != c.size)
      rows = f.of<top::PadOp>(rows, {node.i64s("pads", {0, 0, 0, blocks * kBlock - c.size}), node.f64("value", 0)});
    Value apart = node.reshape("", rows, {count, blocks, kBlock});
    Value inner = node.create<top::MatMulOp>("", {apart, within});
    Value before = sumsBefore(apart, count);
    Value all = node.create<top::AddOp>("", {inner, before});
    return f.of<top::SliceOp>(
        node.reshape("", all, {count, blocks * kBlock}),
        {node.i64s("starts", {0, 0}), node.i64s("ends", {count, c.size}), node.i64s("steps", {1, 1})});
  }

  Value sumsBefore(Value apart, int64_t count) {
    Node::Wide wide(node); // a block's sum may exceed f16, and would be NaN in the blocks before it
    Value sums = f.of<top::ReduceSumOp>(apart, {node.i64s("axes", 2), node.flag("keepdims", false)});
    return node.reshape("", node.create<top::MatMulOp>("", {sums, between}), {count, blocks, 1});
  }

  Node &node;
  Formula f;
  const Cumulation &c;
  bool isLong;
  int64_t blocks;
  Value within, between;
};

/// Of floats; the axis goes to the end and back.
LogicalResult byProducts(Node &node, const Cumulation &c) {
  RankedTensorType type = node.type(0);
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(perm[c.axis], perm.back());
  bool moves = c.axis + 1 != type.getRank();
  Formula f(node);
  Value value = moves ? f.of<top::PermuteOp>(node.input(0), {node.i64s("perm", perm)}) : node.input(0);
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  value = node.reshape("", value, {ShapedType::getNumElements(ArrayRef<int64_t>(shape).drop_back()), c.size});
  value = Products(node, c).of(value);
  if (!moves)
    return node.finish(node.reshape(node.outputName(), value, shape));
  return f.result<top::PermuteOp>(node.reshape("", value, shape), {node.i64s("perm", perm)});
}

} // namespace

static LogicalResult importCumSum(Node &node) {
  std::optional<Cumulation> c = readCumulation(node);
  if (!c)
    return failure();
  bool products = isa<FloatType>(node.type(0).getElementType()) && c->size <= kMostByBlocks;
  return products ? byProducts(node, *c) : byDoubling<top::AddOp>(node, *c, 0);
}

static LogicalResult importCumProd(Node &node) {
  std::optional<Cumulation> c = readCumulation(node);
  Node::Wide wide(node); // an infinite product of some, times the zero before them
  return c ? byDoubling<top::MulOp>(node, *c, 1) : failure();
}

void registerCumSum(Registry &registry) {
  registry.add("CumSum", {11, kMaxOpset, 2, 2, importCumSum});
  registry.add("CumProd", {26, kMaxOpset, 2, 2, importCumProd});
}

} // namespace pto_mlir::onnx
