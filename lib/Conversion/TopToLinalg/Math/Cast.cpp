//===- Cast.cpp - element type conversion --------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct CastLowering : OpRewritePattern<top::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::CastOp op, PatternRewriter &rewriter) const override {
    Value result = convertTensor(rewriter, op.getLoc(), op.getInput(), op.getTo());
    // Mark an explicit rounding by its rounding mode; truncations without one may be folded with a later extension.
    if (auto generic = result.getDefiningOp<linalg::GenericOp>(); generic && result != op.getInput())
      for (auto rounding : generic.getBlock()->getOps<arith::TruncFOp>())
        rounding.setRoundingmode(arith::RoundingMode::to_nearest_even);
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void populateCast(RewritePatternSet &patterns) { patterns.add<CastLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
