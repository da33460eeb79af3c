//===- Power.cpp - the lowering of top.pow --------------------------------===//
//
// Products and square roots where few of them give the power, else exp(y ln x). As y ln x is up to 88, its rounding
// would be an error of as many ulp in f32: there it has two parts, a head and a tail. Sums and products in two parts:
// T. J. Dekker, "A floating-point technique for extending the available precision" (1971), sections 4 and 5.
//
//===----------------------------------------------------------------------===//

#include "../Patterns.h"
#include "FloatBody.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

/// A number as the sum of two.
struct Parts {
  Value head, tail;
};

/// Half the digits of f32 for the head.
constexpr float kSplit = 4097;

/// exp(y ln x) with y ln x in two parts: errors below 2.5 ulp for all x and y.
class PowerInParts {
public:
  explicit PowerInParts(FloatBody f) : f(f) {}

  /// NaN for negative `x`.
  Value of(Value x, Value y) {
    // Beyond 2^100 only the power of 1 is finite and not 0, whatever the parts are.
    return of(x, y, split(f.least(f.greatest(y, -0x1p100), 0x1p100)));
  }
  Value of(Value x, float y) {
    float bounded = std::clamp(y, -0x1p100f, 0x1p100f), scaled = kSplit * bounded;
    float head = scaled - (scaled - bounded);
    return of(x, f.number(y), {f.number(head), f.number(bounded - head)});
  }

private:
  Value of(Value x, Value y, Parts parts) {
    Parts log = logarithm(x);
    Value product = f.mul(y, log.head);
    Value rest = f.add(error(product, parts, split(log.head)), f.mul(y, log.tail));
    Value power = f.exp(product);
    Value inRange = f.is(Predicate::OLE, f.abs(product), f.number(128));
    Value finite = f.least(power, std::numeric_limits<float>::max());
    return f.choose(inRange, f.add(power, f.mul(finite, rest)), power);
  }

  Parts split(Value x) {
    Value scaled = f.mul(x, kSplit), head = f.sub(scaled, f.sub(scaled, x));
    return {head, f.sub(x, head)};
  }
  /// x y - `product`, their rounded product.
  Value error(Value product, Parts x, Parts y) {
    Value sum = f.sub(f.mul(x.head, y.head), product);
    sum = f.add(f.add(sum, f.mul(x.head, y.tail)), f.mul(x.tail, y.head));
    return f.add(sum, f.mul(x.tail, y.tail));
  }

  /// ln x = e ln 2 + ln c + 2 artanh((m - c) / (m + c)), where x = 2^e m with m from sqrt(1 / 2) to sqrt(2), and c is
  /// one of three numbers, so that the quotient stays below 0.078.
  Parts logarithm(Value x) {
    // e and m are bits of x; those of a number below the normal ones after a multiplication.
    Value small = f.less(x, 0x1p-126);
    Value bits = f.bits(f.choose(small, f.mul(x, 0x1p24), x));
    Value exponent = f.of<arith::ShRSIOp>(f.of<arith::SubIOp>(bits, 0x3f3504f3), 23);
    Value m = f.fromBits(f.of<arith::SubIOp>(bits, f.of<arith::ShLIOp>(exponent, 23)));
    Value e = f.toFloat(exponent);
    e = f.choose(small, f.add(e, -24.0), e);

    constexpr double kLow = 0.78125, kHigh = 1.28125;
    Value low = f.less(m, 0.857421875), high = f.is(Predicate::OGT, m, f.number(1.166015625));
    auto chosen = [&](double below, double above, double middle) {
      return f.choose(low, f.number(below), f.choose(high, f.number(above), f.number(middle)));
    };
    auto [quotient, quotientTail] = divide(m, chosen(kLow, kHigh, 1));
    Value square = f.mul(quotient, quotient);
    Value more = f.mul(quotient, f.mul(square, f.polynomial(square, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9})));

    // The first sum is exact: both are multiples of 2^-15.
    Value whole = f.add(f.mul(e, headOfLog(2)), chosen(headOfLog(kLow), headOfLog(kHigh), 0));
    Value twice = f.add(quotient, quotient), head = f.add(whole, twice);
    Value tail = f.add(f.mul(e, tailOfLog(2)), chosen(tailOfLog(kLow), tailOfLog(kHigh), 0));
    tail = f.add(f.add(tail, f.add(quotientTail, quotientTail)), more);
    tail = f.add(f.sub(twice, f.sub(head, whole)), tail);
    Value sum = f.add(head, tail);
    // Of 0, infinity, NaN and negative numbers the logarithm says what the power is.
    Value plain = f.log(x), finite = f.is(Predicate::OLT, f.abs(plain), f.number(1000));
    return {f.choose(finite, sum, plain), f.sub(tail, f.sub(sum, head))};
  }

  /// (m - c) / (m + c) and what its rounding leaves. The difference is exact.
  Parts divide(Value m, Value c) {
    Value difference = f.sub(m, c), sum = f.add(m, c), sumTail = f.sub(m, f.sub(sum, c));
    Value quotient = f.div(difference, sum), product = f.mul(quotient, sum);
    Value rest = f.sub(f.sub(difference, product), error(product, split(quotient), split(sum)));
    return {quotient, f.div(f.sub(rest, f.mul(quotient, sumTail)), sum)};
  }

  static double headOfLog(double c) { return std::nearbyint(std::log(c) * 0x1p15) * 0x1p-15; }
  static double tailOfLog(double c) { return std::log(c) - headOfLog(c); }

  FloatBody f;
};

/// x^n by squaring, n positive.
Value power(OpBuilder &b, Location loc, Value x, int64_t n) {
  Value result;
  for (;; x = b.create<arith::MulFOp>(loc, x, x)) {
    if (n & 1)
      result = result ? b.create<arith::MulFOp>(loc, result, x).getResult() : x;
    if (!(n >>= 1))
      return result;
  }
}

/// x^quarters/4 of positive `quarters`, by products and square roots.
Value rootsAndProducts(OpBuilder &b, Location loc, Value x, int64_t quarters) {
  Value result = quarters >= 4 ? power(b, loc, x, quarters / 4) : Value(), root = x;
  for (int64_t part : {2, 1}) {
    if (quarters % (2 * part) == 0)
      break;
    root = b.create<math::SqrtOp>(loc, root);
    if (quarters & part)
      result = result ? b.create<arith::MulFOp>(loc, result, root).getResult() : root;
  }
  return result;
}

/// Squaring doubles an error: powers in f32 take at most so many factors, and of inverses, which have one already,
/// fewer.
constexpr double kMostFactors = 64, kMostExactFactors = 6, kMostExactInverses = 3;

/// x^y for a constant y. `exact`: for a result of f32.
Value powerOf(OpBuilder &b, Location loc, Value x, double y, bool exact) {
  auto one = [&] { return scalar(b, loc, x.getType(), 1); };
  if (y == 0)
    return one();
  double magnitude = std::fabs(y), most = !exact ? kMostFactors : y < 0 ? kMostExactInverses : kMostExactFactors;
  if (magnitude <= most && magnitude * 4 == std::floor(magnitude * 4)) {
    // A power may leave the range that its inverse does not leave.
    bool inverseFirst = y < -1;
    Value base = inverseFirst ? b.create<arith::DivFOp>(loc, one(), x).getResult() : x;
    Value result = rootsAndProducts(b, loc, base, int64_t(magnitude * 4));
    return y > 0 || inverseFirst ? result : b.create<arith::DivFOp>(loc, one(), result).getResult();
  }
  FloatBody f{b, loc};
  bool whole = magnitude == std::floor(magnitude);
  Value base = whole ? f.abs(x) : x;
  Value size = exact ? PowerInParts(f).of(base, float(y)) : f.exp(f.mul(f.log(base), y));
  if (!whole || std::fmod(magnitude, 2) == 0)
    return size;
  return f.withSign(size, y > 0 ? x : f.div(one(), x)); // the inverse of -0 is negative
}

/// x^y for a computed y. For negative x the result is negative for odd y and NaN for y that are not whole.
Value powerOf(FloatBody f, Value x, Value y, bool exact) {
  Value base = f.abs(x), one = f.number(1);
  Value size = exact ? PowerInParts(f).of(base, y) : f.exp(f.mul(y, f.log(base)));
  Value whole = f.is(Predicate::OEQ, f.nearest(y), y);
  Value ofNegative = f.choose(whole, f.choose(f.isOdd(y), f.negated(size), size), f.number(NAN));
  Value power = f.choose(f.less(x, 0), ofNegative, size);
  // Whatever the other one is, NaN and infinity included.
  power = f.choose(f.is(Predicate::OEQ, x, one), one, power);
  return f.choose(f.is(Predicate::OEQ, y, f.number(0)), one, power);
}

struct PowLowering : OpRewritePattern<top::PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::PowOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    if (!isa<FloatType>(element)) {
      op.emitOpError("on integers has no lowering; cast the operands to float");
      return failure();
    }
    std::optional<double> exponent = top::getSplat(op.getRhs());
    if (!exponent) {
      rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, {op.getLhs(), op.getRhs()},
                                         computeType(element, true),
                                         [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                           return powerOf(FloatBody{b, loc}, args[0], args[1], element.isF32());
                                         }));
      return success();
    }
    // A product of two factors has a single rounding in f16, so it needs no wider type.
    bool wide = *exponent != 1 && *exponent != 2 && *exponent != 0.5;
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, op.getLhs(), computeType(element, wide),
                                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         return powerOf(b, loc, args[0], *exponent, element.isF32());
                                       }));
    return success();
  }
};

} // namespace

void populatePower(RewritePatternSet &patterns) { patterns.add<PowLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
