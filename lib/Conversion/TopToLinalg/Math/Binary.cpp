//===- Binary.cpp - elementwise ops of two operands -----------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// FloatOp on floats, IntOp on integers.
template <typename TopOp, typename FloatOp, typename IntOp> struct BinaryLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    if (std::is_same_v<TopOp, top::DivOp> && !isa<FloatType>(element) && !element.isSignlessInteger(32)) {
      op.emitOpError("on integers of ") << element << " has no lowering; cast the operands to int32";
      return failure();
    }
    rewriter.replaceOp(op,
                       elementwise(rewriter, op.getLoc(), type, {op.getLhs(), op.getRhs()}, computeType(element, false),
                                   [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                     if (isa<FloatType>(element))
                                       return b.create<FloatOp>(loc, args[0], args[1]);
                                     if constexpr (std::is_same_v<TopOp, top::DivOp>)
                                       return divideIntegers(b, loc, args[0], args[1]);
                                     return b.create<IntOp>(loc, args[0], args[1]);
                                   }));
    return success();
  }
};

// x^n by squaring, n positive.
Value power(OpBuilder &b, Location loc, Value x, int64_t n) {
  Value result;
  for (;; x = b.create<arith::MulFOp>(loc, x, x)) {
    if (n & 1)
      result = result ? b.create<arith::MulFOp>(loc, result, x).getResult() : x;
    if (!(n >>= 1))
      return result;
  }
}

// x^y for a constant y: products (and a square root) for multiples of 1/2, else exp(y * ln(x)), which is NaN for
// negative x, as required.
Value powerOf(OpBuilder &b, Location loc, Value x, double y) {
  constexpr double kMostFactors = 64, kGreatestOdd = 1 << 24;
  if (y == 0)
    return scalar(b, loc, x.getType(), 1);
  double magnitude = std::fabs(y), whole = std::floor(magnitude);
  bool half = magnitude - whole == 0.5;
  if (half ? magnitude > kMostFactors : magnitude != whole || magnitude > kGreatestOdd) {
    Value product = b.create<arith::MulFOp>(loc, b.create<math::LogOp>(loc, x), scalar(b, loc, x.getType(), y));
    return b.create<math::ExpOp>(loc, product);
  }
  if (y == -2) { // whose square may leave the range that the result does not leave
    Value inverse = b.create<arith::DivFOp>(loc, scalar(b, loc, x.getType(), 1), x);
    return b.create<arith::MulFOp>(loc, inverse, inverse);
  }
  Value result = whole > 0 ? power(b, loc, x, static_cast<int64_t>(whole)) : Value();
  if (half) {
    Value root = b.create<math::SqrtOp>(loc, x);
    result = result ? b.create<arith::MulFOp>(loc, result, root).getResult() : root;
  }
  return y > 0 ? result : b.create<arith::DivFOp>(loc, scalar(b, loc, x.getType(), 1), result).getResult();
}

// x^y for a computed y: exp(y * ln(|x|)). For negative x the result is negative for odd y and NaN for non-integral y.
Value powerOf(OpBuilder &b, Location loc, Value x, Value y) {
  Type type = x.getType(), integer = b.getI32Type();
  Value zero = scalar(b, loc, type, 0), one = scalar(b, loc, type, 1);
  auto whole = [&](Value value) -> Value {
    Value cut = b.create<arith::SIToFPOp>(loc, type, b.create<arith::FPToSIOp>(loc, integer, value));
    return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, cut, value);
  };
  Value size = b.create<math::ExpOp>(
      loc, b.create<arith::MulFOp>(loc, y, b.create<math::LogOp>(loc, b.create<math::AbsFOp>(loc, x))));
  Value even = whole(b.create<arith::MulFOp>(loc, y, scalar(b, loc, type, 0.5)));
  Value odd =
      b.create<arith::SelectOp>(loc, whole(y), b.create<arith::NegFOp>(loc, size), scalar(b, loc, type, std::nan("")));
  Value negative = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, zero);
  Value power = b.create<arith::SelectOp>(loc, negative, b.create<arith::SelectOp>(loc, even, size, odd), size);
  return b.create<arith::SelectOp>(loc, b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, y, zero), one, power);
}

template <typename TopOp, typename IntOp> struct BitLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isa<IntegerType>(type.getElementType()))
      return op.emitOpError("has no bits in elements of type ") << type.getElementType();
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, {op.getLhs(), op.getRhs()}, type.getElementType(),
                                       [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         return b.create<IntOp>(loc, args[0], args[1]);
                                       }));
    return success();
  }
};

struct PowLowering : OpRewritePattern<top::PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::PowOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isa<FloatType>(type.getElementType())) {
      op.emitOpError("on integers has no lowering; cast the operands to float");
      return failure();
    }
    std::optional<double> exponent = top::getSplat(op.getRhs());
    if (!exponent) {
      rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, {op.getLhs(), op.getRhs()},
                                         computeType(type.getElementType(), true),
                                         [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                           return powerOf(b, loc, args[0], args[1]);
                                         }));
      return success();
    }
    // A product of two factors has a single rounding in f16, so it needs no wider type.
    bool wide = *exponent != 1 && *exponent != 2 && *exponent != 0.5;
    rewriter.replaceOp(op,
                       elementwise(rewriter, op.getLoc(), type, op.getLhs(), computeType(type.getElementType(), wide),
                                   [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                     return powerOf(b, loc, args[0], *exponent);
                                   }));
    return success();
  }
};

} // namespace

void populateBinary(RewritePatternSet &patterns) {
  patterns.add<BinaryLowering<top::AddOp, arith::AddFOp, arith::AddIOp>,
               BinaryLowering<top::SubOp, arith::SubFOp, arith::SubIOp>,
               BinaryLowering<top::MulOp, arith::MulFOp, arith::MulIOp>,
               BinaryLowering<top::DivOp, arith::DivFOp, arith::DivSIOp>,
               BinaryLowering<top::MaxOp, arith::MaximumFOp, arith::MaxSIOp>,
               BinaryLowering<top::MinOp, arith::MinimumFOp, arith::MinSIOp>, BitLowering<top::BitAndOp, arith::AndIOp>,
               BitLowering<top::BitOrOp, arith::OrIOp>, BitLowering<top::BitXorOp, arith::XOrIOp>, PowLowering>(
      patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
