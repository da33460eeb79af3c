// Convolutions and products of com.microsoft: with a sum and an activation behind them, with the channels last, with
// operands to be transposed.
#include "../Composite.h"
#include "../Registry.h"
#include "Window.h"

using namespace mlir;

namespace pto_mlir::onnx {
namespace fused {
namespace {

/// Applies an activation with up to two parameters; null after an error.
Value activated(Node &node, StringRef name, StringRef function, ArrayRef<double> given, Value x) {
  Formula f(node);
  auto parameter = [&](size_t i, double otherwise) { return i < given.size() ? given[i] : otherwise; };
  if (!x)
    return x;
  if (function == "Relu")
    return node.create<top::ReluOp>(name, x);
  if (function == "Tanh")
    return node.create<top::TanhOp>(name, x);
  if (function == "Sigmoid")
    return node.create<top::SigmoidOp>(name, x);
  if (function == "LeakyRelu") {
    Value slope = f.of<top::MulOp>(x, parameter(0, 0.01f)), isLess = f.compare(x, "lt", 0.0);
    return slope && isLess ? node.create<top::WhereOp>(name, {isLess, slope, x}) : Value();
  }
  if (function == "Clip" && given.size() == 2 && given[0] <= given[1])
    return node.create<top::ClipOp>(name, x, {node.f64("min", given[0]), node.f64("max", given[1])});
  if (function == "HardSigmoid") {
    Value line = f.of<top::AddOp>(f.of<top::MulOp>(x, parameter(0, 0.2f)), parameter(1, 0.5));
    return line ? node.create<top::ClipOp>(name, line, {node.f64("min", 0), node.f64("max", 1)}) : line;
  }
  return (void)node.error("attribute 'activation' = '" + function + "' is not supported with these parameters"),
         Value();
}

LogicalResult importConv(Node &node, bool isLast) {
  RankedTensorType input = node.type(0), filter = node.type(1);
  if (input.getRank() < 3 || filter.getRank() != input.getRank())
    return node.error("takes an input of rank 3 and more and a filter of the same rank");
  ArrayRef<int64_t> kernel = filter.getShape().drop_front(2);
  if (std::optional<SmallVector<int64_t>> given = node.intsAttr("kernel_shape");
      given && ArrayRef<int64_t>(*given) != kernel)
    return node.error("attribute 'kernel_shape' differs from the filter's shape");
  int64_t group = node.intAttr("group", 1);
  std::optional<Window> window = readWindow(node, kernel, /*hasDilations=*/true, isLast ? 1 : 2);
  if (!window)
    return failure();
  std::string function = node.stringAttr("activation", "");
  SmallVector<double> parameters;
  if (const auto *list = node.attr("activation_params"))
    parameters.assign(list->floats().begin(), list->floats().end());
  SmallVector<Value> operands{isLast ? channelsFirst(node, "", node.input(0)) : node.input(0), node.input(1)};
  if (node.has(2))
    operands.push_back(node.input(2));
  bool isPlain = function.empty() && !isLast && !node.has(3);
  Value value = node.create<top::ConvOp>(isPlain ? node.outputName() : "", operands,
                                         {node.i64s("strides", window->strides), node.i64s("pads", window->pads),
                                          node.i64s("dilations", window->dilations), node.i64("group", group)});
  if (value && node.has(3)) {
    Type type = value.getType();
    bool ends = function.empty() && !isLast;
    Value other = isLast ? channelsFirst(node, "", node.input(3)) : node.input(3);
    value = node.create<top::AddOp>(ends ? node.outputName() : "", {value, other});
    if (value && value.getType() != type)
      return node.error("has a Z that does not broadcast to the result");
  }
  if (!function.empty())
    value = activated(node, isLast ? "" : node.outputName(), function, parameters, value);
  return node.finish(isLast ? channelsLast(node, node.outputName(), value) : value);
}

LogicalResult importFusedConv(Node &node) { return importConv(node, false); }
LogicalResult importNhwcConv(Node &node) { return importConv(node, true); }

/// alpha A B with the last two dimensions of either, or its first dimension and its batch, exchanged.
LogicalResult importFusedMatMul(Node &node) {
  double alpha = node.floatAttr("alpha", 1);
  Value sides[2];
  for (unsigned i : {0u, 1u}) {
    std::string side = i ? "B" : "A";
    bool ofMatrix = node.intAttr("trans" + side, 0) != 0, ofBatch = node.intAttr("transBatch" + side, 0) != 0;
    int64_t rank = node.type(i).getRank();
    if (rank < 1)
      return node.error("takes no scalars");
    // A vector is a row on the left and a column on the right, however it is turned.
    if (rank == 1) {
      int64_t size = node.type(i).getDimSize(0);
      sides[i] = node.reshape("", node.input(i), i ? ArrayRef<int64_t>{size, 1} : ArrayRef<int64_t>{1, size});
      continue;
    }
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    if (ofBatch) // [d, batch.., e] -> [batch.., d, e]
      std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
    if (ofMatrix)
      std::swap(perm[rank - 2], perm[rank - 1]);
    sides[i] = llvm::is_sorted(perm) ? node.input(i)
                                     : node.create<top::PermuteOp>("", node.input(i), {node.i64s("perm", perm)});
  }
  bool row = node.type(0).getRank() == 1, column = node.type(1).getRank() == 1;
  Formula f(node);
  Value product = sides[0] && sides[1]
                      ? node.create<top::MatMulOp>(alpha == 1 && !row && !column ? node.outputName() : "", sides)
                      : Value();
  if (product && (row || column)) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(product.getType()).getShape());
    if (column)
      shape.pop_back();
    if (row)
      shape.erase(shape.end() - (column ? 1 : 2));
    product = node.reshape(alpha == 1 ? node.outputName() : "", product, shape);
  }
  return alpha == 1 ? node.finish(product) : f.result<top::MulOp>(product, alpha);
}

/// act(alpha A' B' + beta C)
LogicalResult importFusedGemm(Node &node) {
  double alpha = node.floatAttr("alpha", 1), beta = node.floatAttr("beta", 1);
  bool transA = node.intAttr("transA", 0) != 0, transB = node.intAttr("transB", 0) != 0;
  std::string function = node.stringAttr("activation", "");
  SmallVector<double> parameters;
  for (StringRef name : {"activation_alpha", "activation_beta"})
    if (node.attr(name))
      parameters.push_back(node.floatAttr(name, 0));
  node.floatAttr("activation_gamma", 0);
  if (node.type(0).getRank() != 2 || node.type(1).getRank() != 2)
    return node.error("takes matrices");
  Formula f(node);
  Value value = node.create<top::MatMulOp>("", {node.input(0), node.input(1)},
                                           {node.flag("transpose_a", transA), node.flag("transpose_b", transB)});
  if (alpha != 1)
    value = f.of<top::MulOp>(value, alpha);
  if (value && node.has(2) && beta != 0) {
    Type type = value.getType();
    Value c = beta == 1 ? node.input(2) : f.of<top::MulOp>(node.input(2), beta);
    value = c ? f.of<top::AddOp>(value, c) : c;
    if (value && value.getType() != type)
      return node.error("C does not broadcast to the product's shape");
  }
  return node.finish(function.empty() ? value : activated(node, node.outputName(), function, parameters, value));
}

} // namespace
} // namespace fused

void registerFusedConv(Registry &registry) {
  registry.add("com.microsoft.FusedConv", {1, 1, 2, 4, fused::importFusedConv});
  registry.add("com.microsoft.NhwcConv", {1, 1, 2, 3, fused::importNhwcConv});
  registry.add("com.microsoft.NhwcFusedConv", {1, 1, 2, 4, fused::importNhwcConv});
  registry.add("com.microsoft.FusedMatMul", {1, 1, 2, 2, fused::importFusedMatMul});
  registry.add("com.microsoft.TransposeMatMul", {1, 1, 2, 2, fused::importFusedMatMul});
  registry.add("com.microsoft.FusedGemm", {1, 1, 2, 3, fused::importFusedGemm});
}

} // namespace pto_mlir::onnx
