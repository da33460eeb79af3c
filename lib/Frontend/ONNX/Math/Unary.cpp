// Elementwise functions of one tensor.
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

template <typename OpTy> static LogicalResult importUnary(Node &node) { return node.result<OpTy>(node.input(0)); }

static LogicalResult importLeakyRelu(Node &node) {
  return node.result<top::LeakyReluOp>(node.input(0), {node.f64("alpha", node.floatAttr("alpha", 0.01f))});
}

static LogicalResult importHardSigmoid(Node &node) {
  return node.result<top::HardSigmoidOp>(
      node.input(0), {node.f64("alpha", node.floatAttr("alpha", 0.2f)), node.f64("beta", node.floatAttr("beta", 0.5))});
}

void registerUnary(Registry &registry) {
  registry.add("Relu", {7, kMaxOpset, 1, 1, importUnary<top::ReluOp>});
  registry.add("Abs", {7, kMaxOpset, 1, 1, importUnary<top::AbsOp>});
  registry.add("Neg", {7, kMaxOpset, 1, 1, importUnary<top::NegOp>});
  registry.add("Sigmoid", {7, kMaxOpset, 1, 1, importUnary<top::SigmoidOp>});
  registry.add("Tanh", {7, kMaxOpset, 1, 1, importUnary<top::TanhOp>});
  registry.add("Exp", {7, kMaxOpset, 1, 1, importUnary<top::ExpOp>});
  registry.add("Log", {7, kMaxOpset, 1, 1, importUnary<top::LogOp>});
  registry.add("Sqrt", {7, kMaxOpset, 1, 1, importUnary<top::SqrtOp>});
  registry.add("Reciprocal", {7, kMaxOpset, 1, 1, importUnary<top::ReciprocalOp>});
  registry.add("Erf", {9, kMaxOpset, 1, 1, importUnary<top::ErfOp>});
  registry.add("HardSwish", {14, kMaxOpset, 1, 1, importUnary<top::HardSwishOp>});
  registry.add("Round", {11, kMaxOpset, 1, 1, importUnary<top::RoundOp>});
  registry.add("Floor", {7, kMaxOpset, 1, 1, importUnary<top::FloorOp>});
  registry.add("Ceil", {7, kMaxOpset, 1, 1, importUnary<top::CeilOp>});
  registry.add("Sign", {9, kMaxOpset, 1, 1, importUnary<top::SignOp>});
  registry.add("Sin", {7, kMaxOpset, 1, 1, importUnary<top::SinOp>});
  registry.add("Cos", {7, kMaxOpset, 1, 1, importUnary<top::CosOp>});
  registry.add("Tan", {7, kMaxOpset, 1, 1, importUnary<top::TanOp>});
  registry.add("Asin", {7, kMaxOpset, 1, 1, importUnary<top::AsinOp>});
  registry.add("Acos", {7, kMaxOpset, 1, 1, importUnary<top::AcosOp>});
  registry.add("Atan", {7, kMaxOpset, 1, 1, importUnary<top::AtanOp>});
  registry.add("Asinh", {9, kMaxOpset, 1, 1, importUnary<top::AsinhOp>});
  registry.add("Acosh", {9, kMaxOpset, 1, 1, importUnary<top::AcoshOp>});
  registry.add("Atanh", {9, kMaxOpset, 1, 1, importUnary<top::AtanhOp>});
  registry.add("LeakyRelu", {7, kMaxOpset, 1, 1, importLeakyRelu});
  registry.add("HardSigmoid", {7, kMaxOpset, 1, 1, importHardSigmoid});
}

} // namespace pto_mlir::onnx
