// Cast and CastLike.
#include "../Registry.h"
#include "../TensorDecoder.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Reads the attributes that floats of 8 bits have; `saturate` changes nothing for other types.
static LogicalResult castTo(Node &node, Type element) {
  bool isScale = isa<top::Float8E8M0Type>(element);
  bool overflows = node.opset() >= 19 && node.intAttr("saturate", 1) == 0 &&
                   (isScale || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8));
  std::string round = node.opset() >= 24 ? node.stringAttr("round_mode", "up") : "up";
  if (round != "up" && round != "down" && round != "nearest")
    return node.error("attribute 'round_mode' is up, down or nearest, not '" + round + "'");
  if (node.type(0).getElementType() == element)
    return node.finish(node.input(0));
  SmallVector<NamedAttribute> attributes{node.named("to", TypeAttr::get(element))};
  if (overflows)
    attributes.push_back(node.named("overflows", node.builder().getUnitAttr()));
  if (isScale && round != "up")
    attributes.push_back(node.named("round", node.builder().getStringAttr(round)));
  return node.result<top::CastOp>(node.input(0), attributes);
}

static LogicalResult importCast(Node &node) {
  int64_t to = node.intAttr("to", 0);
  Type element = elementType(node.builder().getContext(), static_cast<int>(to));
  if (!element)
    return node.error("attribute 'to': element type " + dataTypeName(static_cast<int>(to)) + " is not supported");
  return castTo(node, element);
}

// To the type of the second input.
static LogicalResult importCastLike(Node &node) { return castTo(node, node.type(1).getElementType()); }

void registerCast(Registry &registry) {
  registry.add("Cast", {7, kMaxOpset, 1, 1, importCast, kTakesStrings});
  registry.add("CastLike", {15, kMaxOpset, 2, 2, importCastLike, kTakesStrings});
}

} // namespace pto_mlir::onnx
