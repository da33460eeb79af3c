// Forms of operators that select, reduce or multiply.
#include "Forms.h"

using namespace mlir;

namespace pto_mlir::onnx {

// What is known of the sizes that a gather takes from a shape; nullopt where one is open.
static std::optional<SmallVector<int64_t>> knownSizes(Node &node) {
  Value data = node.input(0);
  auto host = data ? data.getDefiningOp<top::HostOp>() : top::HostOp();
  std::optional<top::Weight> places = node.constant(1);
  if (!host || host.getKernel() != "shape" || !places)
    return std::nullopt;
  ArrayRef<int64_t> sizes = sizesOf(host.getInputs().front());
  int64_t start = cast<IntegerAttr>(host.getParametersAttr().get("start")).getInt(), count = sizesOf(data).front();
  SmallVector<int64_t> taken;
  for (int64_t place : top::toInts(*places)) {
    place += place < 0 ? count : 0;
    if (place < 0 || place >= count || ShapedType::isDynamic(sizes[start + place]))
      return std::nullopt;
    taken.push_back(sizes[start + place]);
  }
  return taken;
}

static LogicalResult gather(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(0).getRank());
  if (!axis)
    return failure();
  ArrayRef<int64_t> data = node.type(0).getShape();
  SmallVector<int64_t> result(data.take_front(*axis));
  llvm::append_range(result, node.type(1).getShape());
  llvm::append_range(result, data.drop_front(*axis + 1));
  if (std::optional<SmallVector<int64_t>> sizes = knownSizes(node)) {
    OpBuilder &b = node.builder();
    return node.finish(top::createConstant(b, top::namedLoc(b.getContext(), node.outputName()), node.outputName(),
                                           RankedTensorType::get(result, b.getI64Type()),
                                           top::fromInts(b.getI64Type(), *sizes)));
  }
  return node.finish(
      atRunTime(node, node.outputName(), "gather", {node.input(0), node.input(1)}, result, {node.i64("axis", *axis)}));
}

static LogicalResult gatherNd(Node &node) {
  int64_t common = node.opset() >= 12 ? node.intAttr("batch_dims", 0) : 0;
  ArrayRef<int64_t> data = node.type(0).getShape(), places = node.type(1).getShape();
  if (common < 0 || common >= int64_t(places.size()) || ShapedType::isDynamic(places.back()) || places.back() < 0 ||
      common + places.back() > int64_t(data.size()))
    return node.error("has indices that name no dimensions of the data");
  SmallVector<int64_t> result(places.drop_back());
  llvm::append_range(result, data.drop_front(common + places.back()));
  return node.finish(atRunTime(node, node.outputName(), "gather_nd", {node.input(0), node.input(1)}, result,
                               {node.i64("batch_dims", common)}));
}

static LogicalResult argReduce(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(0).getRank());
  if (!axis || !node.input(0))
    return failure();
  int64_t keepdims = node.intAttr("keepdims", 1), last = node.opset() >= 12 ? node.intAttr("select_last_index", 0) : 0;
  SmallVector<int64_t> result(node.type(0).getShape());
  if (keepdims)
    result[*axis] = 1;
  else
    result.erase(result.begin() + *axis);
  return node.finish(atRunTime(node, node.outputName(), node.op().lower(), node.input(0),
                               RankedTensorType::get(result, node.builder().getI64Type()),
                               {node.i64("axis", *axis), node.i64("keepdims", keepdims), node.i64("last", last)}));
}

static LogicalResult topK(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", -1), rank);
  if (!axis)
    return failure();
  bool largest = node.opset() < 11 || node.intAttr("largest", 1);
  if (node.opset() >= 11)
    (void)node.intAttr("sorted", 1); // unsorted results may come in any order
  int64_t count = kOpen;
  if (std::optional<top::Weight> known = node.opset() < 10 ? std::nullopt : node.constant(1))
    count = top::toInts(*known).front();
  if (node.opset() < 10)
    count = node.intAttr("k", 0);
  Value k = node.opset() < 10 ? integers(node, count) : node.input(1), rows = node.input(0);
  if (!rows || !k)
    return failure();
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank)), shape(sizesOf(rows));
  bool moves = *axis + 1 != rank;
  auto swapped = [&](StringRef name, Value value) {
    std::swap(shape[*axis], shape.back());
    return moves ? atRunTime(node, name, "permute", value, shape, {node.i64s("perm", perm)}) : value;
  };
  std::swap(perm[*axis], perm.back());
  rows = swapped("", rows);
  shape.back() = count;
  for (unsigned i = 0; i < 2; ++i) {
    if (!node.wantsOutput(i))
      continue;
    SmallVector<int64_t> kept = shape;
    Type element = i ? node.builder().getI64Type() : node.type(0).getElementType();
    Value chosen = atRunTime(node, moves ? StringRef() : node.outputName(i), i ? "topk_indices" : "topk_values",
                             {rows, k}, RankedTensorType::get(shape, element), {node.i64("largest", largest)});
    chosen = chosen ? swapped(node.outputName(i), chosen) : chosen;
    shape = kept;
    if (!chosen)
      return failure();
    node.set(i, chosen);
  }
  return success();
}

static LogicalResult nonZero(Node &node) {
  OpBuilder &b = node.builder();
  if (node.type(0).getRank() == 0)
    return node.error("takes no scalar");
  auto type = RankedTensorType::get({node.type(0).getRank(), kOpen}, b.getI64Type());
  Value source = node.input(0);
  return source ? node.finish(b.create<top::NonZeroOp>(top::namedLoc(b.getContext(), node.outputName()), type, source))
                : failure();
}

static LogicalResult reduce(Node &node) {
  int64_t rank = node.type(0).getRank(), keep = node.intAttr("keepdims", 1);
  int64_t inputSince = node.op() == "ReduceSum" ? 13 : 18;
  bool isNone = node.opset() >= inputSince && node.intAttr("noop_with_empty_axes", 0) != 0;
  std::optional<SmallVector<int64_t>> axes = axesOf(node, inputSince, rank);
  if (node.hasErrors())
    return failure();
  if (!axes || axes->empty()) {
    if (isNone)
      return node.finish(node.input(0));
    axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  SmallVector<int64_t> result;
  for (auto [d, size] : llvm::enumerate(node.type(0).getShape()))
    if (bool isReduced = llvm::is_contained(*axes, int64_t(d)); keep || !isReduced)
      result.push_back(isReduced ? 1 : size);
  std::string kernel = "reduce_" + node.op().drop_front(StringRef("Reduce").size()).lower();
  return node.finish(atRunTime(node, node.outputName(), kernel, node.input(0), result,
                               {node.i64s("axes", *axes), node.i64("keepdims", keep)}));
}

static LogicalResult softmax(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", node.opset() < 13 ? 1 : -1), rank);
  if (!axis)
    return failure();
  if (node.opset() < 13 && *axis + 1 != rank)
    return node.error("takes rows of the last dimension where sizes are known at run time only");
  return node.finish(
      atRunTime(node, node.outputName(), "softmax", node.input(0), node.type(0).getShape(), {node.i64("axis", *axis)}));
}

static LogicalResult scatterElements(Node &node) {
  std::optional<int64_t> axis = node.axis(node.intAttr("axis", 0), node.type(0).getRank());
  std::string reduction = node.opset() >= 16 ? node.stringAttr("reduction", "none") : "none";
  if (!axis)
    return failure();
  return node.finish(
      atRunTime(node, node.outputName(), "scatter_elements", {node.input(0), node.input(1), node.input(2)},
                node.type(0).getShape(),
                {node.i64("axis", *axis), node.named("reduction", node.builder().getStringAttr(reduction))}));
}

static LogicalResult cumulate(Node &node) {
  std::optional<SmallVector<int64_t>> at = node.ints(1, "axis");
  if (!at || at->size() != 1)
    return at ? node.error("takes one axis") : failure();
  std::optional<int64_t> axis = node.axis(at->front(), node.type(0).getRank());
  if (!axis)
    return failure();
  return node.finish(atRunTime(node, node.outputName(), node.op().lower(), node.input(0), node.type(0).getShape(),
                               {node.i64("axis", *axis), node.i64("exclusive", node.intAttr("exclusive", 0)),
                                node.i64("reverse", node.intAttr("reverse", 0))}));
}

static LogicalResult scatterNd(Node &node) {
  std::string reduction = node.opset() >= 16 ? node.stringAttr("reduction", "none") : "none";
  return node.finish(atRunTime(node, node.outputName(), "scatter_nd", {node.input(0), node.input(1), node.input(2)},
                               node.type(0).getShape(),
                               {node.named("reduction", node.builder().getStringAttr(reduction))}));
}

static Value product(Node &node, StringRef name, ArrayRef<Value> operands, bool transA, bool transB) {
  if (llvm::is_contained(operands, Value()))
    return {};
  SmallVector<int64_t> a(sizesOf(operands[0])), b(sizesOf(operands[1]));
  if (a.size() < 2 || b.size() < 2)
    return (void)node.error("takes matrices where sizes are known at run time only"), Value();
  if (transA)
    std::swap(a.end()[-1], a.end()[-2]);
  if (transB)
    std::swap(b.end()[-1], b.end()[-2]);
  SmallVector<int64_t> result(std::max(a.size(), b.size()), 1);
  for (ArrayRef<int64_t> shape : {ArrayRef(a), ArrayRef(b)})
    for (auto [size, all] :
         llvm::zip_equal(shape.drop_back(2), MutableArrayRef(result).drop_back(2).take_back(shape.size() - 2)))
      all = all == 1 || (ShapedType::isDynamic(all) && size != 1) ? size : all;
  result.end()[-2] = a.end()[-2];
  result.end()[-1] = b.end()[-1];
  return atRunTime(node, name, "matmul", operands, result,
                   {node.i64("transpose_a", transA), node.i64("transpose_b", transB)});
}

static LogicalResult matMul(Node &node) {
  return node.finish(product(node, node.outputName(), {node.input(0), node.input(1)}, false, false));
}

// A bias for each column is part of the product; one of another shape, and factors, are operations of their own.
static LogicalResult gemm(Node &node) {
  bool transA = node.intAttr("transA", 0), transB = node.intAttr("transB", 0);
  double alpha = node.floatAttr("alpha", 1), beta = node.floatAttr("beta", 1);
  SmallVector<Value> operands{node.input(0), node.input(1)};
  Value bias = node.has(2) && beta != 0 ? node.input(2) : Value();
  if (node.has(2) && beta != 0 && !bias)
    return failure();
  if (bias && alpha == 1 && beta == 1 && node.type(2).getRank() == 1 && node.type(2).getDimSize(0) != 1)
    operands.push_back(std::exchange(bias, Value()));
  OpBuilder &b = node.builder();
  auto scaled = [&](StringRef name, Value value, double factor) {
    if (!value || factor == 1)
      return value;
    Type element = getElementTypeOrSelf(value.getType());
    Value number = top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, element),
                                       top::fromDoubles(element, {factor}));
    return atRunTime(node, name, "mul", {value, number}, sizesOf(value));
  };
  bool isLast = !bias && alpha == 1;
  Value made = product(node, isLast ? node.outputName() : StringRef(), operands, transA, transB);
  made = scaled(bias ? StringRef() : node.outputName(), made, alpha);
  if (!bias || !made)
    return node.finish(made);
  return node.finish(atRunTime(node, node.outputName(), "add", {made, scaled("", bias, beta)}, sizesOf(made)));
}

void addSelectForms(Forms &forms) {
  forms["Gather"] = gather;
  forms["GatherND"] = gatherNd;
  forms["ArgMax"] = forms["ArgMin"] = argReduce;
  forms["TopK"] = topK;
  forms["NonZero"] = nonZero;
  for (StringRef op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})
    forms[op] = reduce;
  forms["Softmax"] = softmax;
  forms["ScatterElements"] = scatterElements;
  forms["ScatterND"] = scatterNd;
  forms["CumSum"] = forms["CumProd"] = cumulate;
  forms["MatMul"] = matMul;
  forms["Gemm"] = gemm;
  forms["NonMaxSuppression"] = importNonMaxSuppression;
  forms["RoiAlign"] = importRoiAlign;
}

} // namespace pto_mlir::onnx
