#include "../Registry.h"
#include "Window.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importConv(Node &node) {
  RankedTensorType input = node.type(0), filter = node.type(1);
  if (input.getRank() < 3 || filter.getRank() != input.getRank())
    return node.error("takes an input of rank 3 and more and a filter of the same rank, got ranks " +
                      Twine(input.getRank()) + " and " + Twine(filter.getRank()));
  ArrayRef<int64_t> kernel = filter.getShape().drop_front(2);
  if (std::optional<SmallVector<int64_t>> given = node.intsAttr("kernel_shape");
      given && ArrayRef<int64_t>(*given) != kernel)
    return node.error("attribute 'kernel_shape' differs from the filter's shape");
  int64_t group = node.intAttr("group", 1);
  std::optional<Window> window = readWindow(node, kernel, /*hasDilations=*/true);
  if (!window)
    return failure();
  if (isBetweenWindows(node, *window, kernel, filter.getDimSize(0)))
    return success();
  SmallVector<Value> operands{node.input(0), node.input(1)};
  if (node.has(2))
    operands.push_back(node.input(2));
  return node.result<top::ConvOp>(operands, {node.i64s("strides", window->strides), node.i64s("pads", window->pads),
                                             node.i64s("dilations", window->dilations), node.i64("group", group)});
}

void registerConv(Registry &registry) { registry.add("Conv", {7, kMaxOpset, 2, 3, importConv}); }

} // namespace pto_mlir::onnx
