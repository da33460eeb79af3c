// BitShift and the Bitwise family: no lowering to the engines yet, so the host computes them.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

static constexpr StringLiteral kReason = "operations on bits";

static LogicalResult importBitShift(Node &node) {
  std::string direction = node.stringAttr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error("attribute 'direction' is '" + direction + "'; LEFT and RIGHT are possible");
  return node.hostBinary(direction == "LEFT" ? "shl" : "shr", kReason);
}

static LogicalResult importAnd(Node &node) { return node.hostBinary("bitand", kReason); }
static LogicalResult importOr(Node &node) { return node.hostBinary("bitor", kReason); }
static LogicalResult importXor(Node &node) { return node.hostBinary("bitxor", kReason); }
static LogicalResult importNot(Node &node) {
  return node.finish(node.host(node.outputName(), "bitnot", node.input(0), node.type(0), kReason));
}

void registerBitwise(Registry &registry) {
  registry.add("BitShift", {11, kMaxOpset, 2, 2, importBitShift});
  registry.add("BitwiseAnd", {18, kMaxOpset, 2, 2, importAnd});
  registry.add("BitwiseOr", {18, kMaxOpset, 2, 2, importOr});
  registry.add("BitwiseXor", {18, kMaxOpset, 2, 2, importXor});
  registry.add("BitwiseNot", {18, kMaxOpset, 1, 1, importNot});
}

} // namespace pto_mlir::onnx
