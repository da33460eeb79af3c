//===- Binary.cpp - elementwise ops of two operands -----------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// FloatOp on floats, IntOp on integers.
template <typename TopOp, typename FloatOp, typename IntOp>
struct BinaryLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type element = type.getElementType();
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, {op.getLhs(), op.getRhs()}, computeType(element, false),
                                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         if (isa<FloatType>(element))
                                           return b.create<FloatOp>(loc, args[0], args[1]);
                                         return b.create<IntOp>(loc, args[0], args[1]);
                                       }));
    return success();
  }
};

// Constant exponents that need no logarithm stay exact and cheap.
struct PowLowering : OpRewritePattern<top::PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::PowOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isa<FloatType>(type.getElementType())) {
      op.emitOpError("on integers has no lowering; cast the operands to float");
      return failure();
    }
    std::optional<double> exponent = top::getSplat(op.getRhs());
    bool simple = exponent && (*exponent == 1 || *exponent == 2 || *exponent == 3 || *exponent == 0.5);
    if (!simple) {
      rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, {op.getLhs(), op.getRhs()},
                                         computeType(type.getElementType(), true),
                                         [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                           return b.create<math::PowFOp>(loc, args[0], args[1]);
                                         }));
      return success();
    }
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, op.getLhs(), computeType(type.getElementType(), false),
                                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         Value x = args[0];
                                         if (*exponent == 0.5)
                                           return b.create<math::SqrtOp>(loc, x);
                                         Value result = x;
                                         for (int i = 1; i < static_cast<int>(*exponent); ++i)
                                           result = b.create<arith::MulFOp>(loc, result, x);
                                         return result;
                                       }));
    return success();
  }
};

} // namespace

void populateBinary(RewritePatternSet &patterns) {
  patterns.add<BinaryLowering<top::AddOp, arith::AddFOp, arith::AddIOp>, BinaryLowering<top::SubOp, arith::SubFOp, arith::SubIOp>,
               BinaryLowering<top::MulOp, arith::MulFOp, arith::MulIOp>, BinaryLowering<top::DivOp, arith::DivFOp, arith::DivSIOp>,
               BinaryLowering<top::MaxOp, arith::MaximumFOp, arith::MaxSIOp>,
               BinaryLowering<top::MinOp, arith::MinimumFOp, arith::MinSIOp>, PowLowering>(patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
