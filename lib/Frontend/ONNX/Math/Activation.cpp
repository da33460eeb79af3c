// Activations decomposed into elementwise ops, which are fused into one kernel.
#include "../Composite.h"
#include "../Registry.h"

using namespace mlir;

namespace pto_mlir::onnx {

// ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)), which does not overflow.
static Value softplus(Formula &f, Value x) {
  Value decay = f.of<top::ExpOp>(f.of<top::NegOp>(f.of<top::AbsOp>(x)));
  return f.of<top::AddOp>(f.of<top::ReluOp>(x), f.of<top::LogOp>(f.of<top::AddOp>(decay, 1.0)));
}

// scale * (exp(min(x, 0) / inner) - 1), which is 0 for positive x.
static Value negativePart(Formula &f, Value x, double scale, double inner) {
  Value power = f.of<top::MinOp>(x, 0.0);
  if (inner != 1)
    power = f.of<top::MulOp>(power, 1 / inner);
  return f.of<top::MulOp>(f.of<top::SubOp>(f.of<top::ExpOp>(power), 1.0), scale);
}

static LogicalResult importSoftplus(Node &node) {
  Formula f(node);
  Value x = node.input(0), decay = f.of<top::ExpOp>(f.of<top::NegOp>(f.of<top::AbsOp>(x)));
  return f.result<top::AddOp>(f.of<top::ReluOp>(x), f.of<top::LogOp>(f.of<top::AddOp>(decay, 1.0)));
}

static LogicalResult importSoftsign(Node &node) {
  Formula f(node);
  return f.result<top::DivOp>(node.input(0), f.of<top::AddOp>(f.of<top::AbsOp>(node.input(0)), 1.0));
}

static LogicalResult importElu(Node &node) {
  Formula f(node);
  return f.result<top::AddOp>(f.of<top::ReluOp>(node.input(0)),
                              negativePart(f, node.input(0), node.floatAttr("alpha", 1), 1));
}

static LogicalResult importCelu(Node &node) {
  Formula f(node);
  double alpha = node.floatAttr("alpha", 1);
  if (alpha == 0)
    return node.error("attribute 'alpha' must not be 0");
  return f.result<top::AddOp>(f.of<top::ReluOp>(node.input(0)), negativePart(f, node.input(0), alpha, alpha));
}

static LogicalResult importSelu(Node &node) {
  Formula f(node);
  double alpha = node.floatAttr("alpha", 1.67326319217681884765625f),
         gamma = node.floatAttr("gamma", 1.05070102214813232421875f);
  Value positive = f.of<top::MulOp>(f.of<top::ReluOp>(node.input(0)), gamma);
  return f.result<top::AddOp>(positive, negativePart(f, node.input(0), alpha * gamma, 1));
}

// The slope is per element, broadcast to the input's shape.
static LogicalResult importPRelu(Node &node) {
  Formula f(node);
  Value negative = f.of<top::MulOp>(f.of<top::MinOp>(node.input(0), 0.0), node.input(1));
  return f.result<top::AddOp>(f.of<top::ReluOp>(node.input(0)), negative);
}

static LogicalResult importMish(Node &node) {
  Formula f(node);
  return f.result<top::MulOp>(node.input(0), f.of<top::TanhOp>(softplus(f, node.input(0))));
}

static LogicalResult importSwish(Node &node) {
  Formula f(node);
  double alpha = node.floatAttr("alpha", 1);
  Value x = node.input(0);
  return f.result<top::MulOp>(x, f.of<top::SigmoidOp>(alpha == 1 ? x : f.of<top::MulOp>(x, alpha)));
}

template <typename OpTy> static LogicalResult importHyperbolic(Node &node) {
  Formula f(node);
  Value x = node.input(0), up = f.of<top::ExpOp>(x), down = f.of<top::ExpOp>(f.of<top::NegOp>(x));
  return f.result<top::MulOp>(f.of<OpTy>(up, down), 0.5);
}

void registerActivation(Registry &registry) {
  registry.add("Softplus", {7, kMaxOpset, 1, 1, importSoftplus});
  registry.add("Softsign", {7, kMaxOpset, 1, 1, importSoftsign});
  registry.add("Elu", {7, kMaxOpset, 1, 1, importElu});
  registry.add("Celu", {12, kMaxOpset, 1, 1, importCelu});
  registry.add("Selu", {7, kMaxOpset, 1, 1, importSelu});
  registry.add("PRelu", {7, kMaxOpset, 2, 2, importPRelu});
  registry.add("Mish", {18, kMaxOpset, 1, 1, importMish});
  registry.add("Swish", {24, kMaxOpset, 1, 1, importSwish});
  registry.add("Cosh", {9, kMaxOpset, 1, 1, importHyperbolic<top::AddOp>});
  registry.add("Sinh", {9, kMaxOpset, 1, 1, importHyperbolic<top::SubOp>});
}

} // namespace pto_mlir::onnx
