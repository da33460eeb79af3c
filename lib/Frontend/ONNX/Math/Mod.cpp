#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// The remainder: of a division toward zero (fmod = 1), or with the sign of the divisor. That of floats is exact however
// large the quotient is, which takes more bits than the vector engine has.
static LogicalResult importMod(Node &node) {
  bool likeC = node.intAttr("fmod", 0) != 0;
  if (!isa<IntegerType>(node.type(0).getElementType()))
    return node.hostBinary(likeC ? "fmod" : "mod", "the exact remainder of floats");
  if (node.type(0).getElementType().isUnsignedInteger(64))
    return node.hostBinary(likeC ? "fmod" : "mod", "unsigned 64-bit integers");
  if (std::optional<top::Weight> divisor = node.constant(1); divisor && llvm::is_contained(top::toInts(*divisor), 0))
    return node.error("divides by a constant that holds 0");
  Formula f(node);
  Value a = node.input(0), b = node.input(1);
  Value product = f.of<top::MulOp>(f.of<top::DivOp>(a, b), b);
  if (likeC)
    return f.result<top::SubOp>(a, product);
  Value rest = f.of<top::SubOp>(a, product);
  Value zero = rest ? f.constant(rest, 0) : rest;
  Value isOpposite = f.of<top::XorOp>(f.compare(rest, "lt", zero), f.compare(b, "lt", zero));
  Value isMended = f.of<top::AndOp>(isOpposite, f.of<top::NotOp>(f.compare(rest, "eq", zero)));
  return node.result<top::WhereOp>({isMended, f.of<top::AddOp>(rest, b), rest});
}

void registerMod(Registry &registry) { registry.add("Mod", {10, kMaxOpset, 2, 2, importMod}); }

} // namespace pto_mlir::onnx
