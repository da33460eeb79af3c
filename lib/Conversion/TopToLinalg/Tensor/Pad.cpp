//===- Pad.cpp - explicit padding ------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct PadLowering : OpRewritePattern<top::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::PadOp op, PatternRewriter &rewriter) const override {
    size_t rank = op.getPads().size() / 2;
    rewriter.replaceOp(op, pad(rewriter, op.getLoc(), op.getInput(), op.getPads().take_front(rank),
                               op.getPads().drop_front(rank), op.getValue().convertToDouble()));
    return success();
  }
};
} // namespace

void populatePad(RewritePatternSet &patterns) { patterns.add<PadLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
