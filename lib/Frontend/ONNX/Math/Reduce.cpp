// The reductions. Axes are an attribute in older opsets, an input in newer ones. Other reductions than sum, mean,
// maximum and minimum are decomposed into these.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {
struct Reduction {
  SmallVector<int64_t> axes; ///< ascending
  bool keepdims, none;       ///< none: nothing is reduced
};
} // namespace

static std::optional<Reduction> readReduction(Node &node, int axesAreInputSince) {
  Reduction reduction{{}, node.intAttr("keepdims", 1) != 0, false};
  SmallVector<int64_t> list;
  if (node.opset() >= axesAreInputSince) {
    bool noop = node.intAttr("noop_with_empty_axes", 0);
    if (node.has(1)) {
      std::optional<SmallVector<int64_t>> axes = node.ints(1, "axes");
      if (!axes)
        return std::nullopt;
      list = *axes;
    }
    reduction.none = list.empty() && noop;
  } else {
    list = node.intsAttr("axes").value_or(SmallVector<int64_t>());
  }
  int64_t rank = node.type(0).getRank();
  if (list.empty())
    list.assign(llvm::seq<int64_t>(0, rank).begin(), llvm::seq<int64_t>(0, rank).end());
  std::optional<SmallVector<int64_t>> axes = node.axes(list, rank);
  if (!axes)
    return std::nullopt;
  reduction.axes = *axes;
  return reduction;
}

template <typename OpTy, int axesAreInputSince> static LogicalResult importReduce(Node &node) {
  std::optional<Reduction> reduction = readReduction(node, axesAreInputSince);
  if (!reduction)
    return failure();
  if (reduction->none)
    return node.finish(node.input(0));
  return node.result<OpTy>(node.input(0),
                           {node.i64s("axes", reduction->axes), node.flag("keepdims", reduction->keepdims)});
}

// after(sum(before(x))); a reduction over no axes sums single elements. Sums of integers have no fractions, what is
// after them has: it is computed in double and cut.
using Step = Value (*)(Formula &, Value);

static Value same(Formula &, Value x) { return x; }
static Value magnitude(Formula &f, Value x) { return f.of<top::AbsOp>(x); }
static Value square(Formula &f, Value x) { return f.of<top::MulOp>(x, x); }

template <Step before, typename AfterOp, int axesAreInputSince> static LogicalResult importSumOf(Node &node) {
  std::optional<Reduction> reduction = readReduction(node, axesAreInputSince);
  if (!reduction)
    return failure();
  Formula f(node);
  constexpr bool hasAfter = !std::is_void_v<AfterOp>;
  Type element = node.type(0).getElementType();
  std::optional<Node::Wide> wide;
  if (hasAfter)
    wide.emplace(node);
  Value x = before(f, hasAfter ? f.wide(0) : node.input(0));
  if (!reduction->none)
    x = node.create<top::ReduceSumOp>(hasAfter ? "" : node.outputName(), x,
                                      {node.i64s("axes", reduction->axes), node.flag("keepdims", reduction->keepdims)});
  if constexpr (hasAfter) {
    if (isa<FloatType>(element))
      return f.narrowed<AfterOp>(x);
    return node.finish(
        castTo(node, f.of<AfterOp>(castTo(node, x, node.builder().getF64Type())), element, node.outputName()));
  }
  return node.finish(x);
}

// m + ln(sum(exp(x - m))) with m = max(x), so that exp does not overflow.
template <int axesAreInputSince> static LogicalResult importLogSumExp(Node &node) {
  std::optional<Reduction> reduction = readReduction(node, axesAreInputSince);
  if (!reduction)
    return failure();
  if (reduction->none)
    return node.finish(node.input(0));
  Formula f(node);
  Type element = node.type(0).getElementType();
  bool isFloat = isa<FloatType>(element);
  Value x = isFloat ? node.input(0) : castTo(node, node.input(0), node.builder().getF64Type());
  Value maximum = f.over<top::ReduceMaxOp>(x, reduction->axes);
  // Infinity minus itself is NaN: rows whose maximum is infinite need no scaling.
  Value isInfinite = f.compare(f.of<top::AbsOp>(maximum), "eq", std::numeric_limits<double>::infinity());
  maximum = f.where(isInfinite, f.constant(x, 0), maximum);
  Value sum = f.over<top::ReduceSumOp>(f.of<top::ExpOp>(f.of<top::SubOp>(x, maximum)), reduction->axes);
  if (reduction->keepdims && isFloat)
    return f.result<top::AddOp>(maximum, f.of<top::LogOp>(sum));
  Value result = f.of<top::AddOp>(maximum, f.of<top::LogOp>(sum));
  if (!result)
    return failure();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(cast<RankedTensorType>(result.getType()).getShape()))
    if (reduction->keepdims || !llvm::is_contained(reduction->axes, static_cast<int64_t>(i)))
      shape.push_back(size);
  if (isFloat)
    return node.finish(node.reshape(node.outputName(), result, shape));
  return node.finish(castTo(node, node.reshape("", result, shape), element, node.outputName()));
}

// Halves the axes, which are flattened into one behind all others, until one element is left. Products of narrow floats
// are f32 until the last one.
static LogicalResult importProduct(Node &node) {
  std::optional<Reduction> reduction = readReduction(node, 18);
  if (!reduction)
    return failure();
  if (reduction->none)
    return node.finish(node.input(0));
  SmallVector<int64_t> perm, result;
  ArrayRef<int64_t> shape = node.type(0).getShape();
  int64_t outer = 1, inner = 1;
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(reduction->axes, static_cast<int64_t>(d));
    (reduced ? inner : outer) *= size;
    if (!reduced)
      perm.push_back(d);
    if (!reduced || reduction->keepdims)
      result.push_back(reduced ? 1 : size);
  }
  llvm::append_range(perm, reduction->axes);
  Formula f(node);
  Node::Wide wide(node);
  if (inner == 0) // the product of nothing
    return node.finish(node.filled(node.outputName(), RankedTensorType::get(result, node.type(0).getElementType()), 1));
  Type element = node.type(0).getElementType();
  Value value = f.wide(0);
  if (value && !llvm::is_sorted(perm))
    value = f.of<top::PermuteOp>(value, {node.i64s("perm", perm)});
  value = value ? node.reshape("", value, {outer, inner}) : value;
  while (value && inner > 1) {
    int64_t half = (inner + 1) / 2;
    if (inner % 2)
      value = node.create<top::PadOp>("", value, {node.i64s("pads", {0, 0, 0, 1}), node.f64("value", 1.0)});
    auto part = [&](int64_t begin) {
      return node.create<top::SliceOp>(
          "", value,
          {node.i64s("starts", {0, begin}), node.i64s("ends", {outer, begin + half}), node.i64s("steps", {1, 1})});
    };
    value = value ? f.of<top::MulOp>(part(0), part(half)) : value;
    inner = half;
  }
  if (!value)
    return failure();
  if (cast<RankedTensorType>(value.getType()).getElementType() != element)
    return node.finish(castTo(node, node.reshape("", value, result), element, node.outputName()));
  return node.finish(node.reshape(node.outputName(), value, result));
}

// Registers both forms of an operator.
template <typename Import> static void addBoth(Registry &registry, StringRef op, int axesAreInputSince, Import import) {
  registry.add(op, {7, axesAreInputSince - 1, 1, 1, import});
  registry.add(op, {axesAreInputSince, kMaxOpset, 1, 2, import});
}

void registerReduce(Registry &registry) {
  addBoth(registry, "ReduceSum", 13, importReduce<top::ReduceSumOp, 13>);
  addBoth(registry, "ReduceMean", 18, importReduce<top::ReduceMeanOp, 18>);
  addBoth(registry, "ReduceMax", 18, importReduce<top::ReduceMaxOp, 18>);
  addBoth(registry, "ReduceMin", 18, importReduce<top::ReduceMinOp, 18>);
  addBoth(registry, "ReduceProd", 18, importProduct);
  addBoth(registry, "ReduceL1", 18, importSumOf<magnitude, void, 18>);
  addBoth(registry, "ReduceL2", 18, importSumOf<square, top::SqrtOp, 18>);
  addBoth(registry, "ReduceLogSum", 18, importSumOf<same, top::LogOp, 18>);
  addBoth(registry, "ReduceSumSquare", 18, importSumOf<square, void, 18>);
  addBoth(registry, "ReduceLogSumExp", 18, importLogSumExp<18>);
}

} // namespace pto_mlir::onnx
