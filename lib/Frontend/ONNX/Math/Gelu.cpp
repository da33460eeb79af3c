// Gelu, decomposed into elementwise ops that keep the small results of negative arguments accurate.
#include "../Registry.h"
#include "Functions.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

/// `value` as a multiple of `unit` / 1.5 2^23, to which the sum with `unit` rounds, and the rest.
std::pair<Value, Value> split(Formula &f, Value value, double unit) {
  Value high = f.of<top::SubOp>(f.of<top::AddOp>(value, unit), unit);
  return {high, f.of<top::SubOp>(value, high)};
}

/// exp(-a^2 / 2) for a from 0 to 15, with a = h + l: exp(-h^2 / 2) exp(-l (a + h) / 2). h^2 is exact; the second
/// exponent is at most 0.03, where a cubic does.
Value gauss(Formula &f, Value a) {
  auto [high, low] = split(f, a, 0x1.8p15); // multiples of 2^-8
  Value main = f.of<top::ExpOp>(f.of<top::MulOp>(f.of<top::MulOp>(high, high), -0.5));
  Value rest = f.of<top::MulOp>(f.of<top::MulOp>(low, f.of<top::AddOp>(a, high)), -0.5);
  Value part = f.of<top::MulOp>(rest, polynomial(f, rest, {1, 1.0 / 2, 1.0 / 6}));
  return f.of<top::AddOp>(main, f.of<top::MulOp>(main, part));
}

/// a times the normal distribution's upper tail, a Phi(-a), for a from 0.75 to 15: s P(2 s - 1) exp(-a^2 / 2) with
/// s = a / (a + 1.5), minimax (relative error 8e-9).
Value weightedTail(Formula &f, Value a) {
  Value s = f.of<top::DivOp>(a, f.of<top::AddOp>(a, 1.5));
  Value ratio = polynomial(f, f.of<top::SubOp>(f.of<top::MulOp>(s, 2.0), 1.0),
                           {0.6173419952392578, -0.1950995922088623, -0.05749497190117836, 0.017902672290802002,
                            0.01761864311993122, 0.003914737142622471, -0.002124398248270154, -0.0026357308961451054,
                            -0.0024130174424499273, 0.0019325320608913898});
  return f.of<top::MulOp>(f.of<top::MulOp>(s, gauss(f, a)), ratio);
}

/// x (1 / 2 + x P(x^2)) up to 0.75, minimax (relative error 1e-9).
Value nearZero(Formula &f, Value x) {
  Value rest = polynomial(
      f, f.of<top::MulOp>(x, x),
      {0.3989422619342804, -0.06649015843868256, 0.00997150782495737, -0.0011793230660259724, 0.00010140818631043658});
  return f.of<top::MulOp>(x, f.of<top::AddOp>(f.of<top::MulOp>(x, rest), 0.5));
}

} // namespace

// x Phi(x) = max(x, 0) - |x| Phi(-|x|); from 15 on the tail is 0.
static Value exact(Node &node, Value x, StringRef name) {
  Formula f(node);
  Value size = f.of<top::AbsOp>(x);
  Value far = f.of<top::SubOp>(f.of<top::ReluOp>(x), weightedTail(f, f.of<top::MinOp>(size, 15.0)));
  return node.create<top::WhereOp>(name, {f.isLess(size, 0.75), nearZero(f, x), far});
}

/// exp(-c0 x - c1 x^3) for x from -12 to 12, with x = h + l, h of 8 bits. The exponent of h is the exact product of h
/// and c0 + c1 h^2 in 15 bits; what both lack is small.
static Value cubicDecay(Formula &f, Value x, double c0, double c1) {
  double c0High = std::round(c0 * 0x1p18) / 0x1p18, c1High = std::round(c1 * 0x1p11) / 0x1p11;
  auto [high, low] = split(f, x, 0x1.8p19); // multiples of 1/16
  Value square = f.of<top::MulOp>(high, high);
  auto [slope, slopeRest] = split(f, f.of<top::AddOp>(f.of<top::MulOp>(square, c1High), c0High), 0x1.8p12);
  slopeRest = f.of<top::AddOp>(slopeRest, f.of<top::AddOp>(f.of<top::MulOp>(square, c1 - c1High), c0 - c0High));
  // c0 l + c1 (x^3 - h^3) = l (c0 + c1 (x (x + h) + h^2))
  Value squares = f.of<top::AddOp>(f.of<top::MulOp>(x, f.of<top::AddOp>(x, high)), square);
  Value step = f.of<top::MulOp>(low, f.of<top::AddOp>(f.of<top::MulOp>(squares, c1), c0));
  Value rest = f.of<top::AddOp>(f.of<top::MulOp>(high, slopeRest), step);
  Value main = f.of<top::ExpOp>(f.of<top::NegOp>(f.of<top::MulOp>(high, slope)));
  return f.of<top::MulOp>(main, f.of<top::ExpOp>(f.of<top::NegOp>(rest)));
}

// x / 2 (1 + tanh(u)) = x / (1 + exp(-2 u)) with u = sqrt(2 / pi) (x + 0.044715 x^3) (ONNX, Gelu-20).
static Value byTanh(Node &node, Value x, StringRef name) {
  Formula f(node);
  double line = 2 * std::sqrt(2 / M_PI);
  Value least = f.of<top::MaxOp>(x, -12.0), bounded = f.of<top::MinOp>(least, 12.0);
  return node.create<top::DivOp>(name, {least, f.of<top::AddOp>(cubicDecay(f, bounded, line, 0.044715 * line), 1.0)});
}

// Of input 0, with the bias of input 1 where there is one.
static LogicalResult importGeluOf(Node &node, bool isApproximate) {
  if (!isa<FloatType>(node.type(0).getElementType()))
    return node.error("takes floats");
  Formula f(node);
  Value x = node.has(1) ? f.of<top::AddOp>(node.input(0), node.input(1)) : node.input(0);
  if (!x || x.getType() != node.type(0))
    return x ? node.error("has a bias that does not broadcast to the input") : failure();
  if (f.isDouble(x))
    return node.finish(f.onHost(x, isApproximate ? "gelu_tanh" : "gelu", node.outputName()));
  // The formulas split numbers of 24 bits.
  Type element = node.type(0).getElementType();
  Value wide = castTo(node, x, node.builder().getF32Type());
  StringRef name = element.isF32() ? node.outputName() : StringRef();
  Value made = !wide ? wide : isApproximate ? byTanh(node, wide, name) : exact(node, wide, name);
  return node.finish(made ? castTo(node, made, element, node.outputName()) : made);
}

static LogicalResult importGelu(Node &node) {
  std::string approximate = node.stringAttr("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.error("attribute 'approximate' = '" + approximate + "' is not supported");
  return importGeluOf(node, approximate == "tanh");
}

static LogicalResult importContribGelu(Node &node) { return importGeluOf(node, false); }
static LogicalResult importFastGelu(Node &node) { return importGeluOf(node, true); }

// x sigmoid(alpha x)
static LogicalResult importQuickGelu(Node &node) {
  Formula f(node);
  Value x = node.input(0);
  return f.result<top::MulOp>(x, f.of<top::SigmoidOp>(f.of<top::MulOp>(x, node.floatAttr("alpha", 1.702f))));
}

void registerGelu(Registry &registry) {
  registry.add("Gelu", {20, kMaxOpset, 1, 1, importGelu});
  registry.add("com.microsoft.Gelu", {1, 1, 1, 1, importContribGelu});
  registry.add("com.microsoft.BiasGelu", {1, 1, 2, 2, importContribGelu});
  registry.add("com.microsoft.FastGelu", {1, 1, 1, 2, importFastGelu});
  registry.add("com.microsoft.QuickGelu", {1, 1, 1, 1, importQuickGelu});
}

} // namespace pto_mlir::onnx
