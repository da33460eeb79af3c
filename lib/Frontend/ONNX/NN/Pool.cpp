// MaxPool and AveragePool.
#include "../Registry.h"
#include "Window.h"

using namespace mlir;

namespace pto_mlir::onnx {

template <typename OpTy>
static LogicalResult importPool(Node &node, bool hasDilations, ArrayRef<NamedAttribute> extra) {
  RankedTensorType input = node.type(0);
  if (input.getRank() < 3)
    return node.error("takes an input of rank 3 and more, got rank " + Twine(input.getRank()));
  std::optional<SmallVector<int64_t>> kernel = node.intsAttr("kernel_shape");
  if (!kernel || static_cast<int64_t>(kernel->size()) != input.getRank() - 2)
    return node.error("attribute 'kernel_shape' must hold " + Twine(input.getRank() - 2) + " values");
  bool ceil = node.opset() >= 10 && node.intAttr("ceil_mode", 0);
  std::optional<Window> window = readWindow(node, *kernel, hasDilations);
  if (!window)
    return failure();
  SmallVector<NamedAttribute> attributes{node.i64s("kernel", *kernel), node.i64s("strides", window->strides),
                                         node.i64s("pads", window->pads), node.i64s("dilations", window->dilations),
                                         node.flag("ceil_mode", ceil)};
  llvm::append_range(attributes, extra);
  return node.result<OpTy>(node.input(0), attributes);
}

static LogicalResult importMaxPool(Node &node) {
  if (node.wantsOutput(1))
    return node.error("the output of indices ('" + node.outputName(1) + "') is not supported");
  if (node.opset() >= 8)
    node.intAttr("storage_order", 0); // affects the indices only
  return importPool<top::MaxPoolOp>(node, node.opset() >= 10, {});
}

static LogicalResult importAveragePool(Node &node) {
  bool countPad = node.intAttr("count_include_pad", 0);
  return importPool<top::AvgPoolOp>(node, node.opset() >= 19, {node.flag("count_include_pad", countPad)});
}

void registerPool(Registry &registry) {
  registry.add("MaxPool", {7, kMaxOpset, 1, 1, importMaxPool});
  registry.add("AveragePool", {7, kMaxOpset, 1, 1, importAveragePool});
}

} // namespace pto_mlir::onnx
