//===- Trigonometry.cpp - rounding, circular and inverse functions ---------===//
//
// All in f32, whatever the storage type. Polynomials: Cephes (sinf.c, tanf.c, asinf.c, atanf.c,
// asinhf.c, acoshf.c, atanhf.c).
//
//===----------------------------------------------------------------------===//

#include "../Patterns.h"
#include "FloatBody.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

Value compute(top::RoundOp, FloatBody f, Value x) { return f.nearest(x); }
Value compute(top::FloorOp, FloatBody f, Value x) {
  Value r = f.nearest(x);
  return f.choose(f.is(Predicate::OGT, r, x), f.add(r, -1.0), r);
}
Value compute(top::CeilOp, FloatBody f, Value x) {
  Value r = f.nearest(x);
  return f.choose(f.is(Predicate::OLT, r, x), f.add(r, 1.0), r);
}
Value compute(top::SignOp, FloatBody f, Value x) {
  Value positive = f.choose(f.is(Predicate::OGT, x, f.number(0)), f.number(1), x);
  return f.choose(f.less(x, 0), f.number(-1), positive);
}

/// The greatest argument of the circular functions, 2^16 pi / 2: beyond it the reduction has no digits left, and the
/// result is NaN.
constexpr double kLargestAngle = 102943.5;

/// x = k pi / 2 + r with |r| <= pi / 4, and the sine and cosine of r.
struct Circle {
  Value k, sine, cosine;

  Circle(FloatBody f, Value x) {
    x = f.choose(f.is(Predicate::OLE, f.abs(x), f.number(kLargestAngle)), x, f.number(NAN));
    k = f.nearest(f.mul(x, 0.63661977236758134308));
    // pi / 2 in parts of at most 9 bits: their products with k are exact up to |k| = 2^15, and differences near 0, too.
    Value r = x;
    for (double part : {0x1.92p+0, 0x1.fbp-12, 0x1.51p-22, 0x1.0bp-34, 0x1.184698p-44})
      r = f.sub(r, f.mul(k, part));
    Value z = f.mul(r, r);
    sine = f.odd(r, z, {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4});
    Value tail =
        f.mul(f.mul(z, z), f.polynomial(z, {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5}));
    cosine = f.add(f.sub(tail, f.mul(z, 0.5)), 1.0);
  }

  /// sin(x + quarters * pi / 2)
  Value at(FloatBody f, double quarters) const {
    Value turned = quarters ? f.add(k, quarters) : k;
    Value odd = f.isOdd(turned), half = f.mul(f.sub(turned, f.choose(odd, f.number(1), f.number(0))), 0.5);
    Value value = f.choose(odd, cosine, sine);
    return f.choose(f.isOdd(half), f.negated(value), value);
  }
};

Value compute(top::SinOp, FloatBody f, Value x) { return Circle(f, x).at(f, 0); }
Value compute(top::CosOp, FloatBody f, Value x) { return Circle(f, x).at(f, 1); }
Value compute(top::TanOp, FloatBody f, Value x) {
  Circle circle(f, x);
  Value odd = f.isOdd(circle.k);
  return f.div(f.choose(odd, f.negated(circle.cosine), circle.sine), f.choose(odd, circle.sine, circle.cosine));
}

Value compute(top::AtanOp, FloatBody f, Value x) {
  constexpr double kQuarter = 0.78539816339744830962;
  Value size = f.abs(x), small = f.less(size, 0.4142135623730950),
        large = f.is(Predicate::OGT, size, f.number(2.414213562373095));
  Value middle = f.div(f.add(size, -1.0), f.add(size, 1.0));
  Value t = f.choose(small, size, f.choose(large, f.div(f.number(-1), size), middle));
  Value base = f.choose(small, f.number(0), f.choose(large, f.number(2 * kQuarter), f.number(kQuarter)));
  Value arc = f.odd(t, f.mul(t, t), {-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2});
  return f.withSign(f.add(base, arc), x);
}

/// asin of s in [0, 0.5], z = s^2.
Value arcSine(FloatBody f, Value s, Value z) {
  return f.odd(s, z, {1.6666752422e-1, 7.4953002686e-2, 4.5470025998e-2, 2.4181311049e-2, 4.2163199048e-2});
}
constexpr double kHalfPi = 1.57079632679489661923;

Value compute(top::AsinOp, FloatBody f, Value x) {
  Value size = f.abs(x), small = f.is(Predicate::OLE, size, f.number(0.5));
  Value rest = f.mul(f.sub(f.number(1), size), 0.5); // exact above 0.5
  Value arc = arcSine(f, f.choose(small, size, f.sqrt(rest)), f.choose(small, f.mul(size, size), rest));
  return f.withSign(f.choose(small, arc, f.sub(f.number(kHalfPi), f.mul(arc, 2.0))), x);
}
Value compute(top::AcosOp, FloatBody f, Value x) {
  Value size = f.abs(x), small = f.is(Predicate::OLE, size, f.number(0.5));
  Value rest = f.mul(f.sub(f.number(1), size), 0.5);
  Value arc = arcSine(f, f.choose(small, size, f.sqrt(rest)), f.choose(small, f.mul(size, size), rest));
  Value twice = f.mul(arc, 2.0), negative = f.less(x, 0);
  Value far = f.choose(negative, f.sub(f.number(2 * kHalfPi), twice), twice);
  return f.choose(small, f.sub(f.number(kHalfPi), f.choose(negative, f.negated(arc), arc)), far);
}

Value compute(top::AsinhOp, FloatBody f, Value x) {
  Value size = f.abs(x), z = f.mul(x, x);
  Value near = f.odd(size, z, {-1.6666288134e-1, 7.4847586088e-2, -4.2699340972e-2, 2.0122003309e-2});
  // Beyond 2^15 the root is the argument in f32.
  Value bounded = f.least(size, 0x1p15);
  Value root = f.sqrt(f.add(f.mul(bounded, bounded), 1.0));
  Value sum = f.choose(f.less(size, 0x1p15), f.add(size, root), size);
  Value logarithm = f.log(sum);
  Value far = f.choose(f.less(size, 0x1p15), logarithm, f.add(logarithm, 0.69314718055994530942));
  return f.withSign(f.choose(f.less(size, 0.5), near, far), x);
}
Value compute(top::AcoshOp, FloatBody f, Value x) {
  Value z = f.add(x, -1.0);
  Value near = f.mul(f.sqrt(z), f.polynomial(z, {1.4142135623730950, -1.1784741703e-1, 2.6454905019e-2,
                                                 -7.5272886713e-3, 1.7596881071e-3}));
  Value bounded = f.least(x, 0x1p15), below = f.less(x, 0x1p15);
  Value root = f.sqrt(f.mul(f.add(bounded, -1.0), f.add(bounded, 1.0)));
  Value logarithm = f.log(f.choose(below, f.add(x, root), x));
  Value far = f.choose(below, logarithm, f.add(logarithm, 0.69314718055994530942));
  return f.choose(f.less(z, 0.5), near, far);
}
Value compute(top::AtanhOp, FloatBody f, Value x) {
  Value size = f.abs(x), z = f.mul(x, x);
  Value near =
      f.odd(size, z, {3.33337300303e-1, 1.99782164500e-1, 1.46691431730e-1, 8.24370301058e-2, 1.81740078349e-1});
  Value far = f.mul(f.log(f.div(f.add(size, 1.0), f.sub(f.number(1), size))), 0.5);
  return f.withSign(f.choose(f.less(size, 0.5), near, far), x);
}

template <typename TopOp> struct FunctionLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = computeType(type.getElementType(), /*wide=*/true);
    if (!element.isF32())
      return op.emitOpError("on elements of type ")
             << type.getElementType() << " has no lowering; f32, f16 and bf16 do";
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, op.getInput(), element,
                                       [&](OpBuilder &b, Location loc, ValueRange args) {
                                         return compute(op, FloatBody{b, loc}, args[0]);
                                       }));
    return success();
  }
};

template <typename... Ops> void addFunctions(RewritePatternSet &patterns) {
  patterns.add<FunctionLowering<Ops>...>(patterns.getContext());
}

} // namespace

void populateTrigonometry(RewritePatternSet &patterns) {
  addFunctions<top::RoundOp, top::FloorOp, top::CeilOp, top::SignOp, top::SinOp, top::CosOp, top::TanOp, top::AsinOp,
               top::AcosOp, top::AtanOp, top::AsinhOp, top::AcoshOp, top::AtanhOp>(patterns);
}

} // namespace pto_mlir::top_to_linalg
