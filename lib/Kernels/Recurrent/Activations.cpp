//===- Activations.cpp - functions of a recurrence's gates ----------------===//

#include "Activations.h"

#include "pto_mlir/Dialect/Top/IR/GateFunctions.h"

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
Value Scalars::neg(Value x) { return b.create<arith::NegFOp>(loc, x); }
Value Scalars::abs(Value x) { return b.create<math::AbsFOp>(loc, x); }
Value Scalars::tanh(Value x) { return b.create<math::TanhOp>(loc, x); }

Value Scalars::above(Value x, double bound) {
  Value isAbove = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, x, number(bound));
  return b.create<arith::SelectOp>(loc, isAbove, x, number(0));
}

Value Scalars::where(Value flag, Value x, Value y) {
  Value isSet = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, flag, number(0));
  return b.create<arith::SelectOp>(loc, isSet, x, y);
}

Value Scalars::sigmoid(Value x) { return div(number(1), add(exp(neg(x)), 1)); }
Value Scalars::expMinusOne(Value x) { return top::gates::expMinusOne(*this, x); }
Value Scalars::logOfOnePlus(Value x) { return top::gates::logOfOnePlus(*this, x); }

static const top::gates::Function<Scalars> *functionOf(StringRef name) {
  ArrayRef<top::gates::Function<Scalars>> all = top::gates::functions<Scalars>();
  const auto *found = llvm::find_if(all, [&](const auto &known) { return known.name == name; });
  return found == all.end() ? nullptr : found;
}

bool isActivation(StringRef name) { return functionOf(name) != nullptr; }

Value Scalars::activation(StringRef name, Value x, double alpha, double beta) {
  const auto *function = functionOf(name);
  return function ? function->build(*this, x, alpha, beta) : Value();
}

} // namespace pto_mlir::recurrent
