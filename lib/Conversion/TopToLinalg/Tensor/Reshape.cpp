//===- Reshape.cpp - reshapes ------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct ReshapeLowering : OpRewritePattern<top::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ReshapeOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       reshape(rewriter, op.getLoc(), op.getInput(), cast<RankedTensorType>(op.getType()).getShape()));
    return success();
  }
};
} // namespace

void populateReshape(RewritePatternSet &patterns) { patterns.add<ReshapeLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
