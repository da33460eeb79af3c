//===- Functions.cpp - functions without an instruction ------------------===//
//
// tanh and erf of f32 as arithmetic that loses no digits near 0 and takes few instructions (docs/accuracy.md). Other
// types take upstream's approximations. What is rounded to a narrow type in the same body takes fewer instructions.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

/// Arithmetic on f32 values of a body.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;

  Value number(double value) {
    return builder.create<arith::ConstantOp>(loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value add(Value a, Value b) { return builder.create<arith::AddFOp>(loc, a, b); }
  Value sub(Value a, Value b) { return builder.create<arith::SubFOp>(loc, a, b); }
  Value mul(Value a, Value b) { return builder.create<arith::MulFOp>(loc, a, b); }
  Value div(Value a, Value b) { return builder.create<arith::DivFOp>(loc, a, b); }
  Value exp(Value x) { return builder.create<math::ExpOp>(loc, x); }
  Value abs(Value x) { return builder.create<math::AbsFOp>(loc, x); }
  /// `below` where a < bound, else `other`.
  Value choose(Value a, double bound, Value below, Value other) {
    Value less = builder.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, a, number(bound));
    return builder.create<arith::SelectOp>(loc, less, below, other);
  }
  /// c0 + c1 x + c2 x^2 + .., by Horner's rule.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = mul(x, number(coefficients.back()));
    for (double c : llvm::reverse(coefficients.drop_front().drop_back()))
      sum = mul(add(sum, number(c)), x);
    return add(sum, number(coefficients.front()));
  }
  /// x + x p(x^2).
  Value odd(Value x, Value square, ArrayRef<double> coefficients) {
    return add(x, mul(x, polynomial(square, coefficients)));
  }
};

// Below 0.625 an odd polynomial (Cephes, tanhf), else 1 - 2 / (exp(2 x) + 1).
struct LowerTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Arithmetic a{rewriter, op.getLoc()};
    Value x = op.getOperand(), square = a.mul(x, x), one = a.number(1), two = a.number(2);
    Value series = a.polynomial(
        square, {-3.33332819422e-1, 1.33314422036e-1, -5.37397155531e-2, 2.06390887954e-2, -5.70498872745e-3});
    Value small = a.add(x, a.mul(x, a.mul(square, series)));
    Value large = a.sub(one, a.div(two, a.add(a.exp(a.mul(x, two)), one)));
    rewriter.replaceOp(op, a.choose(a.abs(x), 0.625, small, large));
    return success();
  }
};

// Below 0.93 an odd polynomial, else 1 - exp(-|x| P(|x|)) with the sign of x, as in CUDA's erff: what is wrong with the
// small exponential is less wrong with the difference. Minimax coefficients (relative error 2e-8 and 3e-9).
struct LowerErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Arithmetic a{rewriter, op.getLoc()};
    Value x = op.getOperand(), size = a.abs(x), square = a.mul(x, x);
    Value small = a.odd(x, square,
                        {0.12837915122509003, -0.3761247992515564, 0.11281683295965195, -0.026761742308735847,
                         0.00498596578836441, -0.0005953846266493201});
    // The polynomial approximates log(erfc) up to 4.2 only.
    Value bounded = rewriter.create<arith::MinimumFOp>(op.getLoc(), size, a.number(4.2));
    Value power = a.polynomial(bounded, {-1.1285111904144287, -0.6357291340827942, -0.10524769872426987,
                                         0.022880930453538895, -0.0032121490221470594, 0.00021364555868785828});
    Value rest = a.exp(a.mul(bounded, power)), one = a.number(1);
    Value large = a.choose(x, 0, a.sub(rest, one), a.sub(one, rest));
    rewriter.replaceOp(op, a.choose(size, 0.93, small, large));
    return success();
  }
};

/// Is `value` an f32 that the body rounds to f16 or bf16, after no other ops than `Ops`?
template <typename... Ops> bool isRounded(Value value) {
  llvm::SetVector<Operation *> users(value.user_begin(), value.user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    auto rounding = dyn_cast<arith::TruncFOp>(users[i]);
    if (rounding && (rounding.getType().isF16() || rounding.getType().isBF16()))
      continue;
    if (!isa<Ops...>(users[i]))
      return false;
    users.insert(users[i]->user_begin(), users[i]->user_end());
  }
  return value.getType().isF32();
}

// Minimax coefficients of P in erfc(a) = exp(a P(a)) for a up to 4.2 (relative error 7e-6); erfc goes to 0 behind.
constexpr double kErfc[] = {-1.1284870874613262,    -0.6356747280404128,   -0.10565177144625132,   0.023500718976742357,
                            -0.0036189015243834988, 0.0003365343591149716, -1.4050128167220466e-05};

/// The factor, where `value` is its product with a constant, whose number is multiplied to `scale`.
Value withoutConstant(Value value, double &scale) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  for (unsigned i : {0, 1}) {
    APFloat constant(0.0f);
    if (product && matchPattern(product->getOperand(i), m_ConstantFloat(&constant))) {
      scale *= constant.convertToDouble();
      return product->getOperand(1 - i);
    }
  }
  return value;
}

/// Whether both are the same element: fusion may give a body one operand twice.
bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  auto wideA = a.getDefiningOp<arith::ExtFOp>(), wideB = b.getDefiningOp<arith::ExtFOp>();
  if (wideA && wideB)
    return wideA.getType() == wideB.getType() && isSame(wideA.getIn(), wideB.getIn());
  auto argA = dyn_cast<BlockArgument>(a), argB = dyn_cast<BlockArgument>(b);
  auto op = argA && argB ? dyn_cast<linalg::LinalgOp>(argA.getOwner()->getParentOp()) : linalg::LinalgOp();
  if (!op || argA.getOwner() != argB.getOwner())
    return false;
  OpOperand *operandA = op.getMatchingOpOperand(argA), *operandB = op.getMatchingOpOperand(argB);
  return operandA->get() == operandB->get() &&
         op.getMatchingIndexingMap(operandA) == op.getMatchingIndexingMap(operandB);
}

/// The products that a gelu consists of behind its sum 1 + erf(k h): the last one, and what else than h they scale by.
std::pair<Value, double> productsOf(Value sum, Value h) {
  bool found = false;
  double scale = 1;
  Value last = sum;
  while (last.hasOneUse()) {
    auto product = dyn_cast<arith::MulFOp>(*last.user_begin());
    if (!product)
      break;
    Value other = product.getLhs() == last ? product.getRhs() : product.getLhs();
    double factor = 1;
    APFloat constant(0.0f);
    if (matchPattern(other, m_ConstantFloat(&constant)))
      factor = constant.convertToDouble();
    else if (!found && isSame(withoutConstant(other, factor), h))
      found = true;
    else
      break;
    scale *= factor;
    last = product;
  }
  return found ? std::pair(last, scale) : std::pair(Value(), 0.0);
}

// All of a gelu h s (1 + erf(k h)): 2 s max(h, 0) - b exp(log s + a P(a)), b = abs(h), a = k b, without a choice
// between signs. Where b is bounded the exponential has long been 0, which infinity must not meet.
Value wholeGelu(Arithmetic &a, Value h, double k, double s) {
  SmallVector<double> coefficients = {std::log(s)};
  for (auto [i, c] : llvm::enumerate(kErfc))
    coefficients.push_back(c * std::pow(k, double(i + 1)));
  Value bounded = a.builder.create<arith::MinimumFOp>(a.loc, a.abs(h), a.number(1e4));
  Value tail = a.mul(bounded, a.exp(a.polynomial(bounded, coefficients)));
  Value positive = a.builder.create<arith::MaximumFOp>(a.loc, h, a.number(0));
  return a.sub(s == 0.5 ? positive : a.mul(positive, a.number(2 * s)), tail);
}

// The 1 + erf(x) of a gelu, whose products are rounded, with these products where they are h times constants; else
// erfc(abs(x)) where x < 0, and 2 - erfc(abs(x)).
struct LowerGeluErf : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    auto sum = op->hasOneUse() ? dyn_cast<arith::AddFOp>(*op->user_begin()) : arith::AddFOp();
    if (!sum || !isRounded<arith::MulFOp>(sum))
      return failure();
    Value other = sum.getLhs() == op.getResult() ? sum.getRhs() : sum.getLhs();
    if (!matchPattern(other, m_OneFloat()))
      return failure();
    Arithmetic a{rewriter, op.getLoc()};
    Value x = op.getOperand();
    double k = 1;
    Value h = withoutConstant(x, k);
    if (auto [last, s] = productsOf(sum, h); last && k > 0 && s > 0) {
      rewriter.setInsertionPointAfter(last.getDefiningOp());
      rewriter.replaceOp(last.getDefiningOp(), wholeGelu(a, h, k, s));
      return success();
    }
    Value size = a.abs(x), power = a.polynomial(size, kErfc);
    Value rest = a.exp(a.mul(size, power));
    rewriter.replaceOp(sum, a.choose(x, 0, rest, a.sub(a.number(2), rest)));
    rewriter.eraseOp(op);
    return success();
  }
};

// A quotient by a constant, before nothing that jumps: the product with the reciprocal differs in f32's last digit.
struct MultiplyByReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    APFloat divisor(0.0f);
    if (!matchPattern(op.getRhs(), m_ConstantFloat(&divisor)) ||
        !isRounded<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
                   arith::MinimumFOp, math::ExpOp, math::ErfOp, math::TanhOp, math::AbsFOp>(op))
      return failure();
    APFloat reciprocal(1.0f);
    reciprocal.divide(divisor, APFloat::rmNearestTiesToEven);
    if (!divisor.isNormal() || !reciprocal.isNormal())
      return failure();
    Value factor =
        rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getF32FloatAttr(reciprocal.convertToFloat()));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), factor);
    return success();
  }
};

} // namespace

void populateRoundedPatterns(RewritePatternSet &patterns) { patterns.add<MultiplyByReciprocal>(patterns.getContext()); }

void populateFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGeluErf>(patterns.getContext(), /*benefit=*/3);
  patterns.add<LowerTanh, LowerErf>(patterns.getContext(), /*benefit=*/2);
  populatePolynomialApproximateTanhPattern(patterns);
  populatePolynomialApproximateErfPattern(patterns);
}

} // namespace pto_mlir::vector_kernels
