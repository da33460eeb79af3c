//===- LayerNorm.cpp - normalisation over the last dimensions --------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// Mean, centred values, variance, quotient: all in f32. Two passes over the row, because E[x^2] - E[x]^2 suffers from
// cancellation.
struct LayerNormLowering : OpRewritePattern<top::LayerNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::LayerNormOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t rank = type.getRank(), axis = op.getAxis();
    Type f32 = rewriter.getF32Type();
    auto wide = RankedTensorType::get(type.getShape(), f32);
    Location inner = innerLoc(op.getLoc());
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
    double count = static_cast<double>(ShapedType::getNumElements(type.getShape().drop_front(axis)));
    AffineMap whole = rewriter.getMultiDimIdentityMap(rank);
    // getMajorSubMap returns a null map for 0 results.
    AffineMap statistic = AffineMap::get(rank, 0, whole.getResults().take_front(axis), rewriter.getContext());
    AffineMap perColumn = whole.getMinorSubMap(rank - axis);

    Value centred = op.getInput();
    if (op.getCentered()) {
      Value sum = reduce(rewriter, inner, op.getInput(), axes, f32, 0,
                         [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                           return b.create<arith::AddFOp>(loc, args[0], args[1]);
                         });
      centred = elementwiseMapped(rewriter, inner, wide, {op.getInput(), sum}, {whole, statistic}, f32,
                                  [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                    Value mean = b.create<arith::DivFOp>(loc, args[1], scalar(b, loc, f32, count));
                                    return b.create<arith::SubFOp>(loc, args[0], mean);
                                  });
    }
    Value squares =
        reduce(rewriter, inner, centred, axes, f32, 0, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
          return b.create<arith::AddFOp>(loc, b.create<arith::MulFOp>(loc, args[0], args[0]), args[1]);
        });
    SmallVector<Value> operands{centred, squares};
    SmallVector<AffineMap> maps{whole, statistic};
    for (Value param : op.getParams()) {
      operands.push_back(param);
      maps.push_back(perColumn);
    }
    rewriter.replaceOp(op, elementwiseMapped(rewriter, op.getLoc(), type, operands, maps, f32,
                                             [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                               Value variance =
                                                   b.create<arith::DivFOp>(loc, args[1], scalar(b, loc, f32, count));
                                               Value epsilon = scalar(b, loc, f32, op.getEpsilon().convertToDouble());
                                               Value deviation = b.create<math::SqrtOp>(
                                                   loc, b.create<arith::AddFOp>(loc, variance, epsilon));
                                               Value result = b.create<arith::DivFOp>(loc, args[0], deviation);
                                               if (args.size() > 2)
                                                 result = b.create<arith::MulFOp>(loc, result, args[2]);
                                               if (args.size() > 3)
                                                 result = b.create<arith::AddFOp>(loc, result, args[3]);
                                               return result;
                                             }));
    return success();
  }
};
} // namespace

void populateLayerNorm(RewritePatternSet &patterns) { patterns.add<LayerNormLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
