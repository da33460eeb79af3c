//===- Activations.cpp - functions of a recurrence's gates ----------------===//

#include "Activations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace pto_mlir::recurrent {

Value Scalars::number(double value) {
  return b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(static_cast<float>(value)));
}
Value Scalars::add(Value x, Value y) { return b.create<arith::AddFOp>(loc, x, y); }
Value Scalars::sub(Value x, Value y) { return b.create<arith::SubFOp>(loc, x, y); }
Value Scalars::mul(Value x, Value y) { return b.create<arith::MulFOp>(loc, x, y); }
Value Scalars::div(Value x, Value y) { return b.create<arith::DivFOp>(loc, x, y); }
Value Scalars::max(Value x, double y) { return b.create<arith::MaximumFOp>(loc, x, number(y)); }
Value Scalars::min(Value x, double y) { return b.create<arith::MinimumFOp>(loc, x, number(y)); }
Value Scalars::exp(Value x) { return b.create<math::ExpOp>(loc, x); }
Value Scalars::log(Value x) { return b.create<math::LogOp>(loc, x); }

Value Scalars::above(Value x, double bound) {
  Value isAbove = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, x, number(bound));
  return b.create<arith::SelectOp>(loc, isAbove, x, number(0));
}

Value Scalars::where(Value flag, Value x, Value y) {
  Value isSet = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, flag, number(0));
  return b.create<arith::SelectOp>(loc, isSet, x, y);
}

namespace {

using Build = Value (*)(Scalars &, Value, double alpha, double beta);

Value affine(Scalars &s, Value x, double alpha, double beta) {
  return s.add(s.mul(x, s.number(alpha)), s.number(beta));
}

Value sigmoid(Scalars &s, Value x, double, double) {
  Value minus = s.b.create<arith::NegFOp>(s.loc, x), one = s.number(1);
  return s.div(one, s.add(s.exp(minus), one));
}

/// alpha (exp(x) - 1) for x < 0, without the digits that 1 takes away (Higham, Accuracy and Stability of Numerical
/// Algorithms, 1.14.1).
Value elu(Scalars &s, Value x, double alpha, double) {
  Value below = s.max(s.min(x, 0), -80), u = s.exp(below);
  Value lost = s.mul(u, s.sub(below, s.log(u)));
  Value least = s.add(s.sub(u, s.number(1)), lost);
  return s.add(s.max(x, 0), s.mul(least, s.number(alpha)));
}

/// max(x, 0) + ln(1 + exp(-|x|)), by the same source.
Value softplus(Scalars &s, Value x, double, double) {
  Value size = s.b.create<math::AbsFOp>(s.loc, x), one = s.number(1);
  Value e = s.exp(s.b.create<arith::NegFOp>(s.loc, size)), u = s.add(e, one);
  Value rest = s.add(s.log(u), s.div(s.sub(e, s.sub(u, one)), u));
  return s.add(s.max(x, 0), rest);
}

struct Row {
  StringRef name;
  Build build;
};

const Row kRows[] = {
    {"Sigmoid", sigmoid},
    {"Tanh", [](Scalars &s, Value x, double, double) -> Value { return s.b.create<math::TanhOp>(s.loc, x); }},
    {"Relu", [](Scalars &s, Value x, double, double) { return s.max(x, 0); }},
    {"Affine", affine},
    {"Elu", elu},
    {"LeakyRelu",
     [](Scalars &s, Value x, double alpha, double) { return s.add(s.max(x, 0), s.mul(s.min(x, 0), s.number(alpha))); }},
    {"ThresholdedRelu", [](Scalars &s, Value x, double alpha, double) { return s.above(x, alpha); }},
    {"ScaledTanh",
     [](Scalars &s, Value x, double alpha, double beta) -> Value {
       Value inner = s.b.create<math::TanhOp>(s.loc, s.mul(x, s.number(beta)));
       return s.mul(inner, s.number(alpha));
     }},
    {"HardSigmoid",
     [](Scalars &s, Value x, double alpha, double beta) { return s.max(s.min(affine(s, x, alpha, beta), 1), 0); }},
    {"Softsign",
     [](Scalars &s, Value x, double, double) {
       Value size = s.b.create<math::AbsFOp>(s.loc, x);
       return s.div(x, s.add(size, s.number(1)));
     }},
    {"Softplus", softplus},
};

const Row *rowOf(StringRef name) {
  const Row *row = llvm::find_if(kRows, [&](const Row &known) { return known.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

} // namespace

bool isActivation(StringRef name) { return rowOf(name) != nullptr; }

Value Scalars::activation(StringRef name, Value x, double alpha, double beta) {
  const Row *row = rowOf(name);
  return row ? row->build(*this, x, alpha, beta) : Value();
}

} // namespace pto_mlir::recurrent
