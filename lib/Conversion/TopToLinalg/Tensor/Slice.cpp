//===- Slice.cpp - strided slices -------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct SliceLowering : OpRewritePattern<top::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::SliceOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    for (int64_t step : op.getSteps())
      if (step < 0) {
        op.emitOpError("has the step ") << step << "; only positive steps have a lowering";
        return failure();
      }
    auto folded = [&](ArrayRef<int64_t> values) { return getAsIndexOpFoldResult(op.getContext(), values); };
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, op.getInput(), folded(op.getStarts()),
                                                        folded(type.getShape()), folded(op.getSteps()));
    return success();
  }
};
} // namespace

void populateSlice(RewritePatternSet &patterns) { patterns.add<SliceLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
