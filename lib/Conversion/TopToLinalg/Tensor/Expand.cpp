//===- Expand.cpp - explicit broadcasting -----------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct ExpandLowering : OpRewritePattern<top::ExpandOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ExpandOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()), op.getInput(),
                                       Type(), [](OpBuilder &, Location, ValueRange args) { return args[0]; }));
    return success();
  }
};
} // namespace

void populateExpand(RewritePatternSet &patterns) { patterns.add<ExpandLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
