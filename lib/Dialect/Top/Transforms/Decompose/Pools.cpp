// Pools that read one element per output are slices. Large windows are taken one dimension after the other: a maximum
// of maxima; a mean of means, since the number of elements is a product over the dimensions, at the edges too.
#include "Decompose.h"

using namespace mlir;

namespace pto_mlir::top::decompose {

Value poolLike(MaxPoolOp op, Value input, const Window &w, PatternRewriter &rewriter) {
  return rewriter.create<MaxPoolOp>(rewriter.getUnknownLoc(), input, w.kernel, w.strides, w.pads(), w.dilations,
                                    op.getCeilMode(), op.getLayout());
}

Value poolLike(AvgPoolOp op, Value input, const Window &w, PatternRewriter &rewriter) {
  return rewriter.create<AvgPoolOp>(rewriter.getUnknownLoc(), input, w.kernel, w.strides, w.pads(), w.dilations,
                                    op.getCeilMode(), op.getCountIncludePad(), op.getLayout());
}

namespace {

Window windowOf(auto op) { return {op.getKernel(), op.getStrides(), op.getDilations(), op.getPads()}; }

template <typename OpTy> struct UnitPool : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Window w = windowOf(op);
    if (op.getLayout() != "NCHW" || llvm::any_of(w.kernel, [](int64_t size) { return size != 1; }) ||
        llvm::any_of(w.pads(), [](int64_t size) { return size != 0; }))
      return rewriter.notifyMatchFailure(op, "reads more than one element per output");
    ArrayRef<int64_t> out = shapeOf(op.getOutput());
    SmallVector<int64_t> starts(out.size(), 0), steps(out.size(), 1), ends(out);
    for (auto [i, stride] : llvm::enumerate(w.strides)) {
      steps[2 + i] = stride;
      ends[2 + i] = (out[2 + i] - 1) * stride + 1;
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getInput(), starts, ends, steps);
    return success();
  }
};

template <typename OpTy> class LargePool : public OpRewritePattern<OpTy> {
public:
  LargePool(MLIRContext *context, int64_t most) : OpRewritePattern<OpTy>(context), most(most) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Window w = windowOf(op);
    int64_t pixels = 1;
    for (auto [kernel, dilation] : llvm::zip_equal(w.kernel, w.dilations))
      pixels *= (kernel - 1) * dilation + 1;
    if (op.getLayout() != "NCHW" || w.rank() != 2 || pixels <= most || w.kernel[0] == 1 || w.kernel[1] == 1)
      return rewriter.notifyMatchFailure(op, "the window is small");
    Window rows = w, columns = w;
    rows.makeUnit(0);
    columns.makeUnit(1);
    Value inner = poolLike(op, op.getInput(), rows, rewriter), outer = poolLike(op, inner, columns, rewriter);
    outer.setLoc(op.getLoc());
    rewriter.replaceOp(op, outer);
    return success();
  }

private:
  int64_t most;
};

} // namespace

void populatePools(RewritePatternSet &patterns, int64_t mostPixels) {
  patterns.add<UnitPool<MaxPoolOp>, UnitPool<AvgPoolOp>>(patterns.getContext());
  patterns.add<LargePool<MaxPoolOp>, LargePool<AvgPoolOp>>(patterns.getContext(), mostPixels);
}

} // namespace pto_mlir::top::decompose
