#include "../Registry.h"
#include "../TensorDecoder.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importCast(Node &node) {
  // Affects float8 results only; top.cast saturates, as the default 1.
  if (node.opset() >= 19 && node.intAttr("saturate", 1) != 1)
    return node.error("attribute 'saturate' = 0 is not supported");
  if (node.opset() >= 24)
    node.attr("round_mode");
  int64_t to = node.intAttr("to", 0);
  Type element = elementType(node.builder().getContext(), static_cast<int>(to));
  if (!element)
    return node.error("attribute 'to': element type " + dataTypeName(static_cast<int>(to)) + " is not supported");
  if (node.type(0).getElementType() == element)
    return node.finish(node.input(0));
  return node.result<top::CastOp>(node.input(0), {node.named("to", TypeAttr::get(element))});
}

// To the type of the second input.
static LogicalResult importCastLike(Node &node) {
  if (node.opset() >= 19 && node.intAttr("saturate", 1) != 1)
    return node.error("attribute 'saturate' = 0 is not supported");
  if (node.opset() >= 24)
    node.attr("round_mode");
  Type element = node.type(1).getElementType();
  if (node.type(0).getElementType() == element)
    return node.finish(node.input(0));
  return node.result<top::CastOp>(node.input(0), {node.named("to", TypeAttr::get(element))});
}

void registerCast(Registry &registry) {
  registry.add("Cast", {7, kMaxOpset, 1, 1, importCast});
  registry.add("CastLike", {15, kMaxOpset, 2, 2, importCastLike});
}

} // namespace pto_mlir::onnx
