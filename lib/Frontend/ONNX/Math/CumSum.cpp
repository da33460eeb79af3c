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

/// Of rows [.., n], by a product with a matrix of ones.
Value byProduct(Node &node, const Cumulation &c, StringRef name, Value rows) {
  return node.create<top::MatMulOp>(name, {rows, triangle(node, "_triangle", c.size, c.exclusive, c.reverse)});
}

/// Of rows [r, n]: sums within blocks, and of the blocks before. What is missing in the last block is 0.
Value byBlocks(Node &node, const Cumulation &c, Value rows) {
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0), blocks = llvm::divideCeil(c.size, kBlock);
  Formula f(node);
  if (blocks * kBlock != c.size)
    rows = f.of<top::PadOp>(rows, {node.i64s("pads", {0, 0, 0, blocks * kBlock - c.size}), node.f64("value", 0)});
  Value apart = node.reshape("", rows, {count, blocks, kBlock});
  Value inner = node.create<top::MatMulOp>("", {apart, triangle(node, "_triangle", kBlock, c.exclusive, c.reverse)});
  Value sums = f.of<top::ReduceSumOp>(apart, {node.i64s("axes", 2), node.flag("keepdims", false)});
  Value before = node.create<top::MatMulOp>("", {sums, triangle(node, "_blocks", blocks, true, c.reverse)});
  Value all = node.create<top::AddOp>("", {inner, node.reshape("", before, {count, blocks, 1})});
  return f.of<top::SliceOp>(
      node.reshape("", all, {count, blocks * kBlock}),
      {node.i64s("starts", {0, 0}), node.i64s("ends", {count, c.size}), node.i64s("steps", {1, 1})});
}

/// Of floats; the axis goes to the end and back, and a vector counts as a row.
LogicalResult byProducts(Node &node, const Cumulation &c) {
  RankedTensorType type = node.type(0);
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(perm[c.axis], perm.back());
  bool moves = c.axis + 1 != type.getRank(), isLong = c.size > kMostByProduct;
  Formula f(node);
  Value value = moves ? f.of<top::PermuteOp>(node.input(0), {node.i64s("perm", perm)}) : node.input(0);
  SmallVector<int64_t> shape(cast<RankedTensorType>(value.getType()).getShape());
  if (isLong || type.getRank() == 1)
    value = node.reshape("", value, {ShapedType::getNumElements(ArrayRef<int64_t>(shape).drop_back()), c.size});
  bool last = !moves && !isLong && type.getRank() > 1;
  value = isLong ? byBlocks(node, c, value) : byProduct(node, c, last ? node.outputName() : "", value);
  if (!moves)
    return node.finish(last ? value : node.reshape(node.outputName(), value, shape));
  value = isLong ? node.reshape("", value, shape) : value;
  return f.result<top::PermuteOp>(value, {node.i64s("perm", perm)});
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
