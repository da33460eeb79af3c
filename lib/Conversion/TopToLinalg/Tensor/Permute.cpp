//===- Permute.cpp - transposition ----------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct PermuteLowering : OpRewritePattern<top::PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::PermuteOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Value init = empty(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    auto transpose = rewriter.create<linalg::TransposeOp>(op.getLoc(), op.getInput(), init, op.getPerm());
    rewriter.replaceOp(op, transpose->getResults());
    return success();
  }
};
} // namespace

void populatePermute(RewritePatternSet &patterns) { patterns.add<PermuteLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
