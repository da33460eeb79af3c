//===- Cast.cpp - conversion of the element type --------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct CastLowering : OpRewritePattern<top::CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::CastOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, convertTensor(rewriter, op.getLoc(), op.getInput(), op.getTo()));
    return success();
  }
};
} // namespace

void populateCast(RewritePatternSet &patterns) { patterns.add<CastLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
