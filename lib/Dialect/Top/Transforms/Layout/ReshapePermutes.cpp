//===- ReshapePermutes.cpp - Permutes of unit dimensions as reshapes ------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

using namespace mlir;

namespace pto_mlir::top::layout {
namespace {

// Moving dimensions of size 1 keeps the order of the elements.
struct UnitPermute : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t last = -1;
    for (int64_t dim : op.getPerm()) {
      if (type.getDimSize(dim) == 1)
        continue;
      if (dim < last)
        return rewriter.notifyMatchFailure(op, "moves elements");
      last = dim;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getInput(), cast<RankedTensorType>(op.getType()).getShape());
    return success();
  }
};

struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Value source = op.getInput();
    if (source.getType() == op.getType()) {
      rewriter.replaceOp(op, source);
      return success();
    }
    auto inner = source.getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, inner.getInput(), cast<RankedTensorType>(op.getType()).getShape());
    return success();
  }
};

} // namespace

void populateReshapePermutes(RewritePatternSet &patterns) {
  patterns.add<UnitPermute, MergeReshapes>(patterns.getContext());
}

} // namespace pto_mlir::top::layout
