// LpPool, GlobalLpPool: the p-norm of each window, from the mean of |x|^p.
#include "../Composite.h"
#include "../Registry.h"
#include "Window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::onnx {

// |x|^p and the p-th root.
static Value power(Formula &f, Value x, int64_t p) {
  if (p == 1)
    return f.of<top::AbsOp>(x);
  if (p == 2)
    return f.of<top::MulOp>(x, x);
  return f.of<top::PowOp>(f.of<top::AbsOp>(x), static_cast<double>(p));
}

static LogicalResult root(Formula &f, Value sum, int64_t p) {
  if (p == 2)
    return f.narrowed<top::SqrtOp>(sum);
  return f.narrowed<top::PowOp>(sum, 1 / static_cast<double>(p));
}

static std::optional<int64_t> readP(Node &node) {
  int64_t p = node.intAttr("p", 2);
  if (p >= 1 && p <= 64)
    return p;
  (void)node.error("attribute 'p' must be positive, got " + Twine(p));
  return std::nullopt;
}

static LogicalResult importLpPool(Node &node) {
  RankedTensorType input = node.type(0);
  std::optional<SmallVector<int64_t>> kernel = node.intsAttr("kernel_shape");
  if (input.getRank() < 3 || !kernel || static_cast<int64_t>(kernel->size()) != input.getRank() - 2)
    return node.error(
        "takes an input of rank 3 and more and a 'kernel_shape' of as many values as it has spatial dimensions");
  bool ceil = node.opset() >= 18 && node.intAttr("ceil_mode", 0);
  std::optional<int64_t> p = readP(node);
  std::optional<Window> window = readWindow(node, *kernel, /*hasDilations=*/node.opset() >= 18);
  if (!p || !window)
    return failure();
  if (isBetweenWindows(node, *window, *kernel, input.getDimSize(1)))
    return success();
  double elements = 1;
  size_t count = kernel->size();
  for (size_t i = 0; i < count; ++i) {
    elements *= static_cast<double>((*kernel)[i]);
    // Padding is zero, so windows added by ceil_mode can also be treated as padding.
    int64_t stride = window->strides[i], reach = window->dilations[i] * ((*kernel)[i] - 1) + 1;
    int64_t end = input.getDimSize(2 + i) + window->pads[i];
    int64_t room = std::max<int64_t>(end + window->pads[count + i] - reach, 0);
    // A window that would begin in the padding behind the input is none.
    if (int64_t last = llvm::alignTo(room, stride); ceil && last < end)
      window->pads[count + i] += last - room;
  }
  Formula f(node);
  Node::Wide wide(node);
  Value mean = f.of<top::AvgPoolOp>(power(f, f.wide(0), *p),
                                    {node.i64s("kernel", *kernel), node.i64s("strides", window->strides),
                                     node.i64s("pads", window->pads), node.i64s("dilations", window->dilations),
                                     node.flag("count_include_pad", true)});
  if (*p == 1)
    return f.narrowed<top::MulOp>(mean, elements);
  return root(f, f.of<top::MulOp>(mean, elements), *p);
}

static LogicalResult importGlobalLpPool(Node &node) {
  int64_t rank = node.type(0).getRank();
  std::optional<int64_t> p = readP(node);
  if (!p)
    return failure();
  if (rank < 3)
    return node.error("takes an input of rank 3 and more, got rank " + Twine(rank));
  Formula f(node);
  Node::Wide wide(node);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  if (*p == 1)
    return f.result<top::ReduceSumOp>(power(f, node.input(0), *p), {node.i64s("axes", axes)});
  return root(f, f.over<top::ReduceSumOp>(power(f, f.wide(0), *p), axes), *p);
}

void registerLpPool(Registry &registry) {
  registry.add("LpPool", {7, kMaxOpset, 1, 1, importLpPool});
  registry.add("GlobalLpPool", {7, kMaxOpset, 1, 1, importGlobalLpPool});
}

} // namespace pto_mlir::onnx
