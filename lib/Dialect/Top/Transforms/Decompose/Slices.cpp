// Slices that run downward: elements selected by a constant list of indices.
#include "Decompose.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

struct DownwardSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> steps = op.getSteps();
    const int64_t *found = llvm::find_if(steps, [](int64_t step) { return step < 0; });
    if (found == steps.end())
      return rewriter.notifyMatchFailure(op, "runs upward in every dimension");
    int64_t dim = found - steps.begin(), count = shapeOf(op.getOutput())[dim];
    SmallVector<int64_t> indices, starts(op.getStarts()), ends(op.getEnds()), rest(steps);
    for (int64_t i = 0; i < count; ++i)
      indices.push_back(starts[dim] + i * steps[dim]);
    Type i64 = rewriter.getI64Type();
    Value list = createConstant(rewriter, rewriter.getUnknownLoc(), "indices", RankedTensorType::get({count}, i64),
                                fromInts(i64, indices));
    starts[dim] = 0, ends[dim] = count, rest[dim] = 1;
    SmallVector<int64_t> selected = withDim(shapeOf(op.getInput()), dim, count);
    bool isWhole = llvm::all_of(rest, [](int64_t step) { return step == 1; });
    if (isWhole && ArrayRef<int64_t>(selected) == shapeOf(op.getOutput())) {
      rewriter.replaceOpWithNewOp<GatherOp>(op, op.getInput(), list, dim);
      return success();
    }
    Value gathered = rewriter.create<GatherOp>(rewriter.getUnknownLoc(), op.getInput(), list, dim);
    rewriter.replaceOpWithNewOp<SliceOp>(op, gathered, starts, ends, rest);
    return success();
  }
};

} // namespace

void populateSlices(RewritePatternSet &patterns) { patterns.add<DownwardSlice>(patterns.getContext()); }

} // namespace pto_mlir::top::decompose
