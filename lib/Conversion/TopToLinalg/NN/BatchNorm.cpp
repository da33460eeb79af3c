//===- BatchNorm.cpp - batch normalisation not folded into a convolution -------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct BatchNormLowering : OpRewritePattern<top::BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::BatchNormOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t rank = type.getRank();
    AffineMap whole = rewriter.getMultiDimIdentityMap(rank);
    AffineMap channel =
        AffineMap::get(rank, 0, rewriter.getAffineDimExpr(top::channelDim(op.getLayout(), rank)), op.getContext());
    double epsilon = op.getEpsilon().convertToDouble();
    rewriter.replaceOp(
        op,
        elementwiseMapped(
            rewriter, op.getLoc(), type, {op.getInput(), op.getScale(), op.getBias(), op.getMean(), op.getVariance()},
            {whole, channel, channel, channel, channel}, computeType(type.getElementType(), true),
            [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
              Value centred = b.create<arith::SubFOp>(loc, args[0], args[3]);
              Value shifted = b.create<arith::AddFOp>(loc, args[4], scalar(b, loc, args[4].getType(), epsilon));
              Value deviation = b.create<math::SqrtOp>(loc, shifted);
              Value normal = b.create<arith::DivFOp>(loc, centred, deviation);
              return b.create<arith::AddFOp>(loc, b.create<arith::MulFOp>(loc, normal, args[1]), args[2]);
            }));
    return success();
  }
};
} // namespace

void populateBatchNorm(RewritePatternSet &patterns) { patterns.add<BatchNormLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
