// BitCast: the same bits as elements of another type of their size.
#include "../Registry.h"
#include "../TensorDecoder.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importBitCast(Node &node) {
  auto to = static_cast<int>(node.intAttr("to", 0));
  Type element = elementType(node.builder().getContext(), to), from = node.type(0).getElementType();
  if (!element)
    return node.error("attribute 'to': element type " + dataTypeName(to) + " is not supported");
  if (element == from)
    return node.finish(node.input(0));
  auto type = RankedTensorType::get(node.type(0).getShape(), element);
  return node.finish(node.host(node.outputName(), "bitcast", node.input(0), type, "bits in another type"));
}

void registerBitCast(Registry &registry) { registry.add("BitCast", {26, kMaxOpset, 1, 1, importBitCast}); }

} // namespace pto_mlir::onnx
