// Add, Sub, Mul, Div, Pow and the variadic Max, Min, Sum.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

template <typename OpTy> static LogicalResult importBinary(Node &node) {
  return node.result<OpTy>({node.input(0), node.input(1)});
}

// Reject a constant integer divisor of 0 at import rather than at run time.
static LogicalResult importDiv(Node &node) {
  if (isa<IntegerType>(node.type(1).getElementType()))
    if (std::optional<top::Weight> divisor = node.constant(1); divisor && llvm::is_contained(top::toInts(*divisor), 0))
      return node.error("divides integers by a constant that holds 0");
  return importBinary<top::DivOp>(node);
}

// The exponent may have another type than the base; it is converted. An integer to the power of a float is rounded
// toward zero from double precision.
static LogicalResult importPow(Node &node) {
  Type element = node.type(0).getElementType();
  if (isa<IntegerType>(element) && isa<FloatType>(node.type(1).getElementType())) {
    auto cast = [&](StringRef name, Value value, Type to) {
      return node.create<top::CastOp>(name, value, {node.named("to", TypeAttr::get(to))});
    };
    Type wide = node.builder().getF64Type();
    Value power = node.create<top::PowOp>("", {cast("", node.input(0), wide), cast("", node.input(1), wide)});
    return node.finish(cast(node.outputName(), power, element));
  }
  Value exponent = node.input(1);
  if (node.type(1).getElementType() != element)
    exponent = node.create<top::CastOp>("", exponent, {node.named("to", TypeAttr::get(element))});
  return node.result<top::PowOp>({node.input(0), exponent});
}

template <typename OpTy> static LogicalResult importVariadic(Node &node) {
  Value value = node.input(0);
  for (unsigned i = 1; i < node.numInputs() && value; ++i)
    value = node.create<OpTy>(i + 1 == node.numInputs() ? node.outputName() : "", {value, node.input(i)});
  return node.finish(value);
}

static LogicalResult importMean(Node &node) {
  Formula f(node);
  Value value = node.input(0);
  for (unsigned i = 1; i < node.numInputs() && value; ++i)
    value = f.of<top::AddOp>(value, node.input(i));
  return node.numInputs() == 1 ? node.finish(value) : f.result<top::MulOp>(value, 1.0 / node.numInputs());
}

void registerBinary(Registry &registry) {
  registry.add("Add", {7, kMaxOpset, 2, 2, importBinary<top::AddOp>});
  registry.add("Sub", {7, kMaxOpset, 2, 2, importBinary<top::SubOp>});
  registry.add("Mul", {7, kMaxOpset, 2, 2, importBinary<top::MulOp>});
  registry.add("Div", {7, kMaxOpset, 2, 2, importDiv});
  registry.add("Pow", {7, kMaxOpset, 2, 2, importPow});
  registry.add("Max", {7, kMaxOpset, 1, kVariadic, importVariadic<top::MaxOp>});
  registry.add("Min", {7, kMaxOpset, 1, kVariadic, importVariadic<top::MinOp>});
  registry.add("Mean", {7, kMaxOpset, 1, kVariadic, importMean});
  registry.add("Sum", {7, kMaxOpset, 1, kVariadic, importVariadic<top::AddOp>});
}

} // namespace pto_mlir::onnx
