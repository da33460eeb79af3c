//===- Slice.cpp - strided slices -------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
/// Rows of each outer index, of which as many as there are at run time lie between one and the next.
LogicalResult lowerOverSize(top::SliceOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> from = op.getInput().getType().getShape(), to = op.getType().getShape();
  unsigned dim = 0;
  while (from[dim] == to[dim])
    ++dim;
  Location inner = innerLoc(op.getLoc());
  Value taken = rewriter.create<top::TakeRowsOp>(op.getLoc(), joinAround(rewriter, inner, op.getInput(), dim, dim + 1),
                                                 op.getStarts()[dim], to[dim]);
  rewriter.replaceOp(op, reshape(rewriter, inner, taken, to));
  return success();
}

struct SliceLowering : OpRewritePattern<top::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::SliceOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    for (int64_t step : op.getSteps())
      if (step < 0) {
        op.emitOpError("has the step ") << step << "; only positive steps have a lowering";
        return failure();
      }
    if (top::takesAll(op)) { // an output; copied where it is an input, too
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    if (op->hasAttr(top::kOverSizeAttr))
      return lowerOverSize(op, rewriter);
    auto folded = [&](ArrayRef<int64_t> values) { return getAsIndexOpFoldResult(op.getContext(), values); };
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, op.getInput(), folded(op.getStarts()),
                                                        folded(type.getShape()), folded(op.getSteps()));
    return success();
  }
};
} // namespace

void populateSlice(RewritePatternSet &patterns) { patterns.add<SliceLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
