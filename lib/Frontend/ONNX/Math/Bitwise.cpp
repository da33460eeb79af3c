// BitShift, which has no lowering to the engines yet, so the host computes it, and the Bitwise family.
#include "../Registry.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"

#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;

namespace pto_mlir::onnx {

static constexpr StringLiteral kReason = "operations on bits";

static LogicalResult importBitShift(Node &node) {
  std::string direction = node.stringAttr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.error("attribute 'direction' is '" + direction + "'; LEFT and RIGHT are possible");
  return node.hostBinary(direction == "LEFT" ? "shl" : "shr", kReason);
}

template <typename OpTy> static LogicalResult importBits(Node &node) {
  for (unsigned i : {0u, 1u})
    if (Type element = node.type(i).getElementType(); !isa<IntegerType>(element) || element.isInteger(1))
      return node.error("expects integers, got " + debugString(element));
  return node.result<OpTy>({node.input(0), node.input(1)});
}

// All bits of the other kind: exclusive or with ones.
static LogicalResult importNot(Node &node) {
  auto element = dyn_cast<IntegerType>(node.type(0).getElementType());
  if (!element || element.getWidth() == 1)
    return node.error("expects integers, got " + debugString(node.type(0).getElementType()));
  int64_t ones = element.isUnsigned() && element.getWidth() < 64 ? (int64_t(1) << element.getWidth()) - 1 : -1;
  OpBuilder &b = node.builder();
  Value all =
      top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, element), top::fromInts(element, {ones}));
  return node.result<top::BitXorOp>({node.input(0), all});
}

void registerBitwise(Registry &registry) {
  registry.add("BitShift", {11, kMaxOpset, 2, 2, importBitShift});
  registry.add("BitwiseAnd", {18, kMaxOpset, 2, 2, importBits<top::BitAndOp>});
  registry.add("BitwiseOr", {18, kMaxOpset, 2, 2, importBits<top::BitOrOp>});
  registry.add("BitwiseXor", {18, kMaxOpset, 2, 2, importBits<top::BitXorOp>});
  registry.add("BitwiseNot", {18, kMaxOpset, 1, 1, importNot});
}

} // namespace pto_mlir::onnx
