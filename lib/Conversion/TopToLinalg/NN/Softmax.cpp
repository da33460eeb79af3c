//===- Softmax.cpp - softmax as four steps in f32 -------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// max, exp(x - max), sum, division. linalg.softmax decomposes in the same way, but would sum f16 in f16 and initialise
// the maximum to -65504.
struct SoftmaxLowering : OpRewritePattern<top::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::SoftmaxOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    int64_t rank = type.getRank(), axis = op.getAxis();
    Type f32 = rewriter.getF32Type();
    auto wide = RankedTensorType::get(type.getShape(), f32);
    Location inner = innerLoc(op.getLoc());
    AffineMap whole = rewriter.getMultiDimIdentityMap(rank), statistic = whole.dropResult(axis);

    Value maximum = reduce(rewriter, inner, op.getInput(), axis, f32, -std::numeric_limits<double>::infinity(),
                           [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                             return b.create<arith::MaximumFOp>(loc, args[0], args[1]);
                           });
    Value exponential = elementwiseMapped(rewriter, inner, wide, {op.getInput(), maximum}, {whole, statistic}, f32,
                                          [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                            Value centred = b.create<arith::SubFOp>(loc, args[0], args[1]);
                                            return b.create<math::ExpOp>(loc, centred);
                                          });
    Value sum =
        reduce(rewriter, inner, exponential, axis, f32, 0, [](OpBuilder &b, Location loc, ValueRange args) -> Value {
          return b.create<arith::AddFOp>(loc, args[0], args[1]);
        });
    rewriter.replaceOp(op, elementwiseMapped(rewriter, op.getLoc(), type, {exponential, sum}, {whole, statistic}, f32,
                                             [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                               return b.create<arith::DivFOp>(loc, args[0], args[1]);
                                             }));
    return success();
  }
};
} // namespace

void populateSoftmax(RewritePatternSet &patterns) { patterns.add<SoftmaxLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
