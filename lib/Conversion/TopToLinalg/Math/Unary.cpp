//===- Unary.cpp - elementwise ops of one operand -------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// Whether the function is too inaccurate in f16. Hard gates are because of their constants: 1 / 6 has an error of half
// an ulp.
template <typename TopOp>
constexpr bool computesWide = llvm::is_one_of<TopOp, top::SigmoidOp, top::TanhOp, top::ExpOp, top::LogOp, top::ErfOp,
                                              top::HardSwishOp, top::HardSigmoidOp>::value;

Value one(OpBuilder &b, Location loc, Value like) { return scalar(b, loc, like.getType(), 1); }

Value clamp(OpBuilder &b, Location loc, Value x, std::optional<double> low, std::optional<double> high) {
  bool isFloat = isa<FloatType>(x.getType());
  if (low) {
    Value bound = scalar(b, loc, x.getType(), *low);
    x = isFloat ? b.create<arith::MaximumFOp>(loc, x, bound).getResult()
                : b.create<arith::MaxSIOp>(loc, x, bound).getResult();
  }
  if (high) {
    Value bound = scalar(b, loc, x.getType(), *high);
    x = isFloat ? b.create<arith::MinimumFOp>(loc, x, bound).getResult()
                : b.create<arith::MinSIOp>(loc, x, bound).getResult();
  }
  return x;
}

std::optional<double> number(std::optional<llvm::APFloat> value) {
  return value ? std::optional<double>(value->convertToDouble()) : std::nullopt;
}

Value compute(top::ReluOp, OpBuilder &b, Location loc, Value x) { return clamp(b, loc, x, 0.0, std::nullopt); }
/// A limit of integers beyond what the kernel's type holds hides nothing: that type holds all that is clipped.
std::optional<double> limitIn(Type type, std::optional<double> limit) {
  if (!limit || isa<FloatType>(type))
    return limit;
  double most = std::ldexp(1.0, type.getIntOrFloatBitWidth() - 1);
  return std::clamp(*limit, -most, most - 1);
}

Value compute(top::ClipOp op, OpBuilder &b, Location loc, Value x) {
  Type type = x.getType();
  return clamp(b, loc, x, limitIn(type, number(op.getMin())), limitIn(type, number(op.getMax())));
}
Value compute(top::AbsOp, OpBuilder &b, Location loc, Value x) {
  if (isa<FloatType>(x.getType()))
    return b.create<math::AbsFOp>(loc, x);
  return b.create<arith::MaxSIOp>(loc, x, b.create<arith::SubIOp>(loc, scalar(b, loc, x.getType(), 0), x));
}
Value compute(top::NegOp, OpBuilder &b, Location loc, Value x) {
  if (isa<FloatType>(x.getType()))
    return b.create<arith::NegFOp>(loc, x);
  return b.create<arith::SubIOp>(loc, scalar(b, loc, x.getType(), 0), x);
}
Value compute(top::SigmoidOp, OpBuilder &b, Location loc, Value x) {
  Value e = b.create<math::ExpOp>(loc, b.create<arith::NegFOp>(loc, x));
  Value unit = one(b, loc, x);
  return b.create<arith::DivFOp>(loc, unit, b.create<arith::AddFOp>(loc, e, unit));
}
Value compute(top::TanhOp, OpBuilder &b, Location loc, Value x) { return b.create<math::TanhOp>(loc, x); }
Value compute(top::ExpOp, OpBuilder &b, Location loc, Value x) { return b.create<math::ExpOp>(loc, x); }
Value compute(top::LogOp, OpBuilder &b, Location loc, Value x) { return b.create<math::LogOp>(loc, x); }
Value compute(top::SqrtOp, OpBuilder &b, Location loc, Value x) { return b.create<math::SqrtOp>(loc, x); }
Value compute(top::ErfOp, OpBuilder &b, Location loc, Value x) { return b.create<math::ErfOp>(loc, x); }
Value compute(top::ReciprocalOp, OpBuilder &b, Location loc, Value x) {
  return b.create<arith::DivFOp>(loc, one(b, loc, x), x);
}
// clamp(alpha * x + beta, 0, 1). In f32 as alpha * (x + beta / alpha), whose sum is exact where it is near 0; what
// rounding the quotient to f32 leaves is added where it is not 0.
Value hardGate(OpBuilder &b, Location loc, Value x, double alpha, double beta, bool accurate) {
  auto number = [&](double value) { return scalar(b, loc, x.getType(), value); };
  double shift = beta / alpha, high = static_cast<float>(shift), low = shift - high;
  Value line = x;
  if (accurate && std::isfinite(high) && std::fabs(high) >= 0x1p-60) {
    line = b.create<arith::AddFOp>(loc, line, number(high));
    if (std::fabs(low) > std::fabs(high) * 0x1p-50)
      line = b.create<arith::AddFOp>(loc, line, number(low));
    line = b.create<arith::MulFOp>(loc, line, number(alpha));
  } else {
    line = b.create<arith::MulFOp>(loc, line, number(alpha));
    line = b.create<arith::AddFOp>(loc, line, number(beta));
  }
  return clamp(b, loc, line, 0.0, 1.0);
}

bool isF32(Operation *op) { return getElementTypeOrSelf(op->getResult(0).getType()).isF32(); }

Value compute(top::HardSigmoidOp op, OpBuilder &b, Location loc, Value x) {
  return hardGate(b, loc, x, op.getAlpha().convertToDouble(), op.getBeta().convertToDouble(), isF32(op));
}
Value compute(top::HardSwishOp op, OpBuilder &b, Location loc, Value x) {
  return b.create<arith::MulFOp>(loc, x, hardGate(b, loc, x, 1.0 / 6, 0.5, isF32(op)));
}
Value compute(top::LeakyReluOp op, OpBuilder &b, Location loc, Value x) {
  double alpha = op.getAlpha().convertToDouble();
  Value scaled = b.create<arith::MulFOp>(loc, x, scalar(b, loc, x.getType(), alpha));
  if (alpha >= 0 && alpha <= 1) // then max(x, alpha * x) is correct
    return b.create<arith::MaximumFOp>(loc, x, scaled);
  Value negative = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, scalar(b, loc, x.getType(), 0));
  return b.create<arith::SelectOp>(loc, negative, scaled, x);
}

template <typename TopOp> struct UnaryLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = computeType(type.getElementType(), computesWide<TopOp>);
    rewriter.replaceOp(
        op, elementwise(rewriter, op.getLoc(), type, op.getInput(), element,
                        [&](OpBuilder &b, Location loc, ValueRange args) { return compute(op, b, loc, args[0]); }));
    return success();
  }
};

template <typename... Ops> void addAll(RewritePatternSet &patterns) {
  patterns.add<UnaryLowering<Ops>...>(patterns.getContext());
}

} // namespace

void populateUnary(RewritePatternSet &patterns) {
  addAll<top::ReluOp, top::AbsOp, top::NegOp, top::SigmoidOp, top::TanhOp, top::ExpOp, top::LogOp, top::SqrtOp,
         top::ReciprocalOp, top::ErfOp, top::HardSwishOp, top::LeakyReluOp, top::HardSigmoidOp, top::ClipOp>(patterns);
}

} // namespace pto_mlir::top_to_linalg
