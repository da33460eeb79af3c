//===- IntegerDivision.cpp - quotients of 32-bit integers ------------------===//
//
// a3 divides floats only. A quotient of f32 has 24 bits; what is left of the dividend, divided once more, gives the
// others, and the sign and size of the last rest say whether the quotient is one off (as in D. Knuth, The Art of
// Computer Programming 2, 4.3.1: a digit that is estimated too high or too low is mended by the remainder).
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {

Value divideIntegers(OpBuilder &b, Location loc, Value dividend, Value divisor) {
  Type integer = dividend.getType(), f32 = b.getF32Type();
  auto number = [&](int64_t value) {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(integer, value)).getResult();
  };
  Value zero = number(0), one = number(1), minusOne = number(-1), lowest = number(INT32_MIN);
  auto less = [&](Value x, Value y) -> Value { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y); };
  auto equal = [&](Value x, Value y) -> Value { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y); };
  auto choose = [&](Value when, Value yes, Value no) -> Value { return b.create<arith::SelectOp>(loc, when, yes, no); };
  auto negated = [&](Value x) -> Value { return b.create<arith::SubIOp>(loc, zero, x); };
  Value floatDivisor = b.create<arith::SIToFPOp>(loc, f32, divisor);
  auto estimate = [&](Value x) -> Value {
    Value quotient = b.create<arith::DivFOp>(loc, b.create<arith::SIToFPOp>(loc, f32, x), floatDivisor);
    return b.create<arith::FPToSIOp>(loc, integer, quotient);
  };
  auto restOf = [&](Value x, Value quotient) -> Value {
    return b.create<arith::SubIOp>(loc, x, b.create<arith::MulIOp>(loc, quotient, divisor));
  };
  Value first = estimate(dividend), rest = restOf(dividend, first), second = estimate(rest);
  rest = restOf(rest, second);
  Value quotient = b.create<arith::AddIOp>(loc, first, second);
  // Seen from a positive dividend and divisor, the rest is from 0 to the divisor - 1.
  Value negative = less(dividend, zero), opposite = less(divisor, zero);
  Value size = choose(opposite, negated(divisor), divisor), seen = choose(negative, negated(rest), rest);
  Value step = choose(negative, choose(opposite, one, minusOne), choose(opposite, minusOne, one));
  Value up = choose(less(seen, size), zero, step), down = choose(less(seen, zero), negated(step), up);
  quotient = b.create<arith::AddIOp>(loc, quotient, down);
  // -2^31 has no size.
  return choose(equal(divisor, lowest), choose(equal(dividend, lowest), one, zero), quotient);
}

} // namespace pto_mlir::top_to_linalg
