// Activations decomposed into elementwise ops, which are fused into one kernel.
#include "../Registry.h"
#include "Functions.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

// scale * (exp(min(x, 0) / inner) - 1), which is 0 for positive x.
static Value negativePart(Formula &f, Value x, double scale, double inner) {
  Value power = f.of<top::MinOp>(x, 0.0);
  if (inner != 1)
    power = f.of<top::DivOp>(power, inner);
  Value part = TensorArithmetic{f}.expMinusOne(power);
  return scale == 1 ? part : f.of<top::MulOp>(part, scale);
}

static LogicalResult importSoftplus(Node &node) {
  Formula f(node);
  auto [line, rest] = softplusParts(f, node.input(0));
  return f.result<top::AddOp>(line, rest);
}

static LogicalResult importSoftsign(Node &node) {
  Formula f(node);
  return f.result<top::DivOp>(node.input(0), f.of<top::AddOp>(f.of<top::AbsOp>(node.input(0)), 1.0));
}

// gain * max(x, 0) + scale * (exp(min(x, 0) / inner) - 1), in f32 in every mode: in f16 exp(-80) is 0, which has no
// logarithm. The result is rounded once.
static LogicalResult importExponentialUnit(Node &node, double gain, double scale, double inner) {
  Formula f(node);
  Node::Wide wide(node);
  Value x = f.wide(0), positive = f.of<top::ReluOp>(x);
  if (gain != 1)
    positive = f.of<top::MulOp>(positive, gain);
  return f.narrowed<top::AddOp>(positive, negativePart(f, x, scale, inner));
}

static LogicalResult importElu(Node &node) { return importExponentialUnit(node, 1, node.floatAttr("alpha", 1), 1); }

static LogicalResult importCelu(Node &node) {
  double alpha = node.floatAttr("alpha", 1);
  if (alpha == 0)
    return node.error("attribute 'alpha' must not be 0");
  return importExponentialUnit(node, 1, alpha, alpha);
}

static LogicalResult importSelu(Node &node) {
  double alpha = node.floatAttr("alpha", 1.67326319217681884765625f),
         gamma = node.floatAttr("gamma", 1.05070102214813232421875f);
  return importExponentialUnit(node, gamma, alpha * gamma, 1);
}

// The slope is per element, broadcast to the input's shape. No element without a sign has one.
static LogicalResult importPRelu(Node &node) {
  ArrayRef<int64_t> shape = node.type(0).getShape(), slope = node.type(1).getShape();
  bool fits =
      slope.size() <= shape.size() &&
      llvm::all_of(llvm::zip_equal(slope, shape.take_back(std::min(slope.size(), shape.size()))),
                   [](auto sizes) { return std::get<0>(sizes) == 1 || std::get<0>(sizes) == std::get<1>(sizes); });
  if (fits && node.type(0).getElementType().isUnsignedInteger())
    return node.finish(node.input(0));
  Formula f(node);
  Value negative = f.of<top::MulOp>(f.of<top::MinOp>(node.input(0), 0.0), node.input(1));
  return f.result<top::AddOp>(f.of<top::ReluOp>(node.input(0)), negative);
}

// x tanh(ln(1 + exp(x))) = x n / (n + r) with e = exp(-|x|), which is at most 1 (f16 overflows soon): n = 1 + 2 e and
// r = 2 e^2 from 0 on, n = e^2 + 2 e and r = 2 below.
static LogicalResult importMish(Node &node) {
  Formula f(node);
  Value x = node.input(0), e = f.of<top::ExpOp>(f.of<top::NegOp>(f.of<top::AbsOp>(x)));
  Value isPositive = f.compare(x, "ge", 0), twice = f.of<top::MulOp>(e, 2.0), square = f.of<top::MulOp>(e, e);
  Value n = f.where(isPositive, f.of<top::AddOp>(twice, 1.0), f.of<top::AddOp>(square, twice));
  Value rest = f.where(isPositive, f.of<top::MulOp>(square, 2.0), f.constant(e, 2));
  return f.result<top::MulOp>(x, f.of<top::DivOp>(n, f.of<top::AddOp>(n, rest)));
}

static LogicalResult importSwish(Node &node) {
  Formula f(node);
  double alpha = node.floatAttr("alpha", 1);
  Value x = node.input(0);
  return f.result<top::MulOp>(x, f.of<top::SigmoidOp>(alpha == 1 ? x : f.of<top::MulOp>(x, alpha)));
}

// (exp(x) +- exp(-x)) / 2, where exp(x - s) exp(s) / 2 does not overflow before the result does. x - s is exact from 1
// to the greatest argument, and exp(s) / 2 has an error of 1e-9 in f32.
template <typename OpTy> static Value halfOf(Formula &f, Value x) {
  constexpr double shift = 1.078125;
  Value up = f.of<top::ExpOp>(f.of<top::SubOp>(x, shift));
  Value down = f.of<top::ExpOp>(f.of<top::SubOp>(f.of<top::NegOp>(x), shift));
  return f.of<top::MulOp>(f.of<OpTy>(up, down), std::exp(shift) / 2);
}

static LogicalResult importCosh(Node &node) {
  Formula f(node);
  if (f.isDouble(node.input(0)))
    return node.finish(f.onHost(node.input(0), "cosh", node.outputName()));
  return node.finish(halfOf<top::AddOp>(f, node.input(0)));
}

// Below 1, where the difference loses digits: x + x^3 P(x^2), minimax (relative error 5e-11).
static LogicalResult importSinh(Node &node) {
  Formula f(node);
  if (f.isDouble(node.input(0)))
    return node.finish(f.onHost(node.input(0), "sinh", node.outputName()));
  Value x = node.input(0), square = f.of<top::MulOp>(x, x);
  Value series =
      polynomial(f, square, {0.1666666716337204, 0.008333349600434303, 0.0001983615948120132, 2.8169511097075883e-06});
  Value small = f.of<top::AddOp>(x, f.of<top::MulOp>(x, f.of<top::MulOp>(square, series)));
  return f.choose(f.isLess(f.of<top::AbsOp>(x), 1.0), small, halfOf<top::SubOp>(f, x));
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
  registry.add("Cosh", {9, kMaxOpset, 1, 1, importCosh});
  registry.add("Sinh", {9, kMaxOpset, 1, 1, importSinh});
}

} // namespace pto_mlir::onnx
