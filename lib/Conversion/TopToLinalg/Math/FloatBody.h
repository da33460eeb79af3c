//===- FloatBody.h - f32 arithmetic of elementwise bodies -------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_MATH_FLOATBODY_H
#define PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_MATH_FLOATBODY_H

#include "../LinalgBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace pto_mlir::top_to_linalg {

using Predicate = mlir::arith::CmpFPredicate;

/// Arithmetic on the f32 of a body.
struct FloatBody {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value number(double value) { return scalar(b, loc, b.getF32Type(), value); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return b.create<mlir::arith::AddFOp>(loc, x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return b.create<mlir::arith::SubFOp>(loc, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return b.create<mlir::arith::MulFOp>(loc, x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return b.create<mlir::arith::DivFOp>(loc, x, y); }
  mlir::Value add(mlir::Value x, double y) { return add(x, number(y)); }
  mlir::Value mul(mlir::Value x, double y) { return mul(x, number(y)); }
  mlir::Value negated(mlir::Value x) { return b.create<mlir::arith::NegFOp>(loc, x); }
  mlir::Value abs(mlir::Value x) { return b.create<mlir::math::AbsFOp>(loc, x); }
  mlir::Value sqrt(mlir::Value x) { return b.create<mlir::math::SqrtOp>(loc, x); }
  mlir::Value log(mlir::Value x) { return b.create<mlir::math::LogOp>(loc, x); }
  mlir::Value exp(mlir::Value x) { return b.create<mlir::math::ExpOp>(loc, x); }
  mlir::Value least(mlir::Value x, double y) { return b.create<mlir::arith::MinimumFOp>(loc, x, number(y)); }
  mlir::Value greatest(mlir::Value x, double y) { return b.create<mlir::arith::MaximumFOp>(loc, x, number(y)); }
  mlir::Value is(Predicate predicate, mlir::Value x, mlir::Value y) {
    return b.create<mlir::arith::CmpFOp>(loc, predicate, x, y);
  }
  mlir::Value less(mlir::Value x, double y) { return is(Predicate::OLT, x, number(y)); }
  mlir::Value choose(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return b.create<mlir::arith::SelectOp>(loc, condition, yes, no);
  }

  /// The bits of f32 as i32, and back.
  mlir::Value bits(mlir::Value x) { return b.create<mlir::arith::BitcastOp>(loc, b.getI32Type(), x); }
  mlir::Value fromBits(mlir::Value x) { return b.create<mlir::arith::BitcastOp>(loc, b.getF32Type(), x); }
  mlir::Value integer(int32_t value) { return scalar(b, loc, b.getI32Type(), value); }
  mlir::Value toFloat(mlir::Value x) { return b.create<mlir::arith::SIToFPOp>(loc, b.getF32Type(), x); }
  template <typename IntegerOp> mlir::Value of(mlir::Value x, mlir::Value y) { return b.create<IntegerOp>(loc, x, y); }
  template <typename IntegerOp> mlir::Value of(mlir::Value x, int32_t y) { return of<IntegerOp>(x, integer(y)); }

  /// `magnitude` with the sign of x.
  mlir::Value withSign(mlir::Value magnitude, mlir::Value x) {
    return choose(less(x, 0), negated(magnitude), magnitude);
  }
  /// c0 + c1 x + .., by Horner's rule.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> c) {
    mlir::Value sum = number(c.back());
    for (double next : llvm::reverse(c.drop_back()))
      sum = add(mul(sum, x), next);
    return sum;
  }
  /// x + x z P(z)
  mlir::Value odd(mlir::Value x, mlir::Value z, llvm::ArrayRef<double> c) {
    return add(x, mul(x, mul(z, polynomial(z, c))));
  }

  /// To the nearest integer, ties to even: f32 has no digits behind the point from 2^23 on.
  mlir::Value nearest(mlir::Value x) {
    mlir::Value size = abs(x), rounded = add(add(size, 0x1p23), -0x1p23);
    return choose(less(size, 0x1p23), withSign(rounded, x), x);
  }
  /// Whether the integer k is odd.
  mlir::Value isOdd(mlir::Value k) { return is(Predicate::UNE, k, mul(nearest(mul(k, 0.5)), 2.0)); }
};

} // namespace pto_mlir::top_to_linalg

#endif // PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_MATH_FLOATBODY_H
