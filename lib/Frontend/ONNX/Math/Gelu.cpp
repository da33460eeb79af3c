// Gelu, decomposed into elementwise ops.
#include "../Registry.h"
#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

// exact: x / 2 * (1 + erf(x / sqrt(2))); tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) (ONNX, Gelu-20).
static LogicalResult importGelu(Node &node) {
  std::string approximate = node.stringAttr("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.error("attribute 'approximate' = '" + approximate + "' is not supported");
  Value x = node.input(0);
  Type element = node.type(0).getElementType();
  OpBuilder &b = node.builder();
  auto number = [&](double value) -> Value {
    return top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, element),
                               top::fromDoubles(element, value));
  };
  if (!isa<FloatType>(element))
    return node.error("takes floats");
  Value inner;
  if (approximate == "none") {
    inner = node.create<top::ErfOp>("", node.create<top::MulOp>("", {x, number(std::sqrt(0.5))}));
  } else {
    Value square = node.create<top::MulOp>("", {x, x});
    Value factor = node.create<top::AddOp>("", {node.create<top::MulOp>("", {square, number(0.044715)}), number(1)});
    Value line = node.create<top::MulOp>("", {x, factor});
    inner = node.create<top::TanhOp>("", node.create<top::MulOp>("", {line, number(std::sqrt(2 / M_PI))}));
  }
  Value half = node.create<top::MulOp>("", {x, number(0.5)});
  return node.result<top::MulOp>({half, node.create<top::AddOp>("", {inner, number(1)})});
}

void registerGelu(Registry &registry) { registry.add("Gelu", {20, kMaxOpset, 1, 1, importGelu}); }

} // namespace pto_mlir::onnx
