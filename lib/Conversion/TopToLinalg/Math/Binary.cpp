//===- Binary.cpp - elementwise ops of two operands -----------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

} // namespace

void populateBinary(RewritePatternSet &patterns) {
  patterns.add<BinaryLowering<top::AddOp, arith::AddFOp, arith::AddIOp>,
               BinaryLowering<top::SubOp, arith::SubFOp, arith::SubIOp>,
               BinaryLowering<top::MulOp, arith::MulFOp, arith::MulIOp>,
               BinaryLowering<top::DivOp, arith::DivFOp, arith::DivSIOp>,
               BinaryLowering<top::MaxOp, arith::MaximumFOp, arith::MaxSIOp>,
               BinaryLowering<top::MinOp, arith::MinimumFOp, arith::MinSIOp>, BitLowering<top::BitAndOp, arith::AndIOp>,
               BitLowering<top::BitOrOp, arith::OrIOp>, BitLowering<top::BitXorOp, arith::XOrIOp>>(
      patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
