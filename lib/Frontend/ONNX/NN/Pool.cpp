// MaxPool and AveragePool.
#include "../Registry.h"
#include "PoolPlaces.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// The order in which places of maxima count.
enum class Places { rowsFirst, columnsFirst };

template <typename OpTy>
static LogicalResult importPool(Node &node, bool hasDilations, ArrayRef<NamedAttribute> extra,
                                std::optional<Places> places = std::nullopt) {
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
  if (isBetweenWindows(node, *window, *kernel, input.getDimSize(1), places ? 2 : 1))
    return success();
  SmallVector<NamedAttribute> attributes{node.i64s("kernel", *kernel), node.i64s("strides", window->strides),
                                         node.i64s("pads", window->pads), node.i64s("dilations", window->dilations),
                                         node.flag("ceil_mode", ceil)};
  llvm::append_range(attributes, extra);
  Value pooled = node.create<OpTy>(node.outputName(), node.input(0), attributes);
  if (pooled && places && input.getNumElements() == 0 && cast<RankedTensorType>(pooled.getType()).getNumElements() != 0)
    return node.error("has no element in its windows, whose place its second output would be");
  if (pooled && places) {
    Value found = maximumPlaces(node, node.outputName(1), pooled, *kernel, *window, *places == Places::columnsFirst);
    if (!found)
      return failure();
    node.set(1, found);
  }
  return node.finish(pooled);
}

static LogicalResult importMaxPool(Node &node) {
  bool columnsFirst = node.opset() >= 8 && node.intAttr("storage_order", 0) != 0;
  std::optional<Places> places;
  if (node.wantsOutput(1))
    places = columnsFirst ? Places::columnsFirst : Places::rowsFirst;
  return importPool<top::MaxPoolOp>(node, node.opset() >= 10, {}, places);
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
