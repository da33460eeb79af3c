// CumSum and CumProd along an axis. A sum of floats over a moderate axis is a product with a triangular matrix of ones;
// anything else takes log2(n) steps, after each of which an element has accumulated twice as many.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

constexpr int64_t kMostByProduct = 4096;

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
  if (c.exclusive && c.size == 1)
    return node.finish(node.create<OpTy>(
        node.outputName(), {Formula(node).of<top::MulOp>(value, 0.0), Formula(node).constant(value, neutral)}));
  if (c.exclusive)
    value = shifted(node, value, c, 1, neutral);
  for (int64_t distance = 1; value && distance < c.size; distance *= 2) {
    bool last = 2 * distance >= c.size;
    Value earlier = shifted(node, value, c, distance, neutral);
    value = earlier ? node.create<OpTy>(last ? node.outputName() : "", {value, earlier}) : earlier;
  }
  return node.finish(value);
}

/// By a product with a matrix of ones; the axis goes to the end and back, and a vector counts as a row.
LogicalResult byProduct(Node &node, const Cumulation &c) {
  RankedTensorType type = node.type(0);
  std::vector<double> ones(c.size * c.size, 0.0);
  for (int64_t from = 0; from < c.size; ++from)
    for (int64_t to = 0; to < c.size; ++to)
      ones[from * c.size + to] = (c.reverse ? from > to : from < to) || (from == to && !c.exclusive);
  OpBuilder &b = node.builder();
  Value triangle = top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_triangle").str(),
                                       RankedTensorType::get({c.size, c.size}, type.getElementType()),
                                       top::fromDoubles(type.getElementType(), ones));
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(perm[c.axis], perm.back());
  bool moves = c.axis + 1 != type.getRank();
  Formula f(node);
  Value value = moves ? f.of<top::PermuteOp>(node.input(0), {node.i64s("perm", perm)}) : node.input(0);
  if (type.getRank() == 1)
    value = node.reshape("", value, {1, c.size});
  bool last = !moves && type.getRank() > 1;
  value = node.create<top::MatMulOp>(last ? node.outputName() : "", {value, triangle});
  if (type.getRank() == 1)
    return node.finish(node.reshape(node.outputName(), value, {c.size}));
  return moves ? f.result<top::PermuteOp>(value, {node.i64s("perm", perm)}) : node.finish(value);
}

} // namespace

static LogicalResult importCumSum(Node &node) {
  std::optional<Cumulation> c = readCumulation(node);
  if (!c)
    return failure();
  bool product = isa<FloatType>(node.type(0).getElementType()) && c->size <= kMostByProduct;
  return product ? byProduct(node, *c) : byDoubling<top::AddOp>(node, *c, 0);
}

static LogicalResult importCumProd(Node &node) {
  std::optional<Cumulation> c = readCumulation(node);
  return c ? byDoubling<top::MulOp>(node, *c, 1) : failure();
}

void registerCumSum(Registry &registry) {
  registry.add("CumSum", {11, kMaxOpset, 2, 2, importCumSum});
  registry.add("CumProd", {26, kMaxOpset, 2, 2, importCumProd});
}

} // namespace pto_mlir::onnx
