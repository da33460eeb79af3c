// Pools that read one element per output are slices. Large windows are taken one dimension after the other: a maximum
// of maxima; a mean of means, since the number of elements is a product over the dimensions, at the edges too.
#include "Decompose.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"

#include <limits>

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
    if (op.getLayout() != "NCHW" || w.rank() != 2 || (pixels <= most && !op->hasAttr(kNoKernelAttr)) ||
        w.kernel[0] == 1 || w.kernel[1] == 1)
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

/// A kernel on windows loads the positions of each phase of a stride on their own. Of a long stride each block is one
/// maximum: the whole ones of a window, and one of the first elements of the block behind them.
struct LongStridePool : OpRewritePattern<MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaxPoolOp op, PatternRewriter &rewriter) const override {
    Window w = windowOf(op);
    const int64_t *longest = llvm::max_element(w.strides);
    size_t i = longest - w.strides.begin();
    Window others = w;
    others.makeUnit(i);
    bool isAlone = llvm::all_of(llvm::seq<size_t>(0, w.rank()), [&](size_t j) {
      return others.kernel[j] == 1 && others.strides[j] == 1 && others.begins[j] == 0 && others.ends[j] == 0;
    });
    if (op.getLayout() != "NCHW" || *longest <= kMostStride || !isAlone || w.kernel[i] == 1 || w.dilations[i] != 1 ||
        !isa<FloatType>(op.getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "has a short stride, or two dimensions");
    Value result = maximumOfBlocks(op, w, i, rewriter);
    result.setLoc(op.getLoc());
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static constexpr int64_t kMostStride = 32;

  static Value maximumOfBlocks(MaxPoolOp op, const Window &w, size_t i, PatternRewriter &rewriter) {
    Chain chain(rewriter);
    auto dim = static_cast<int64_t>(2 + i);
    int64_t stride = w.strides[i], whole = w.kernel[i] / stride, rest = w.kernel[i] % stride;
    int64_t out = shapeOf(op.getOutput())[dim], blocks = out - 1 + whole + (rest != 0);
    int64_t behind = blocks * stride - w.begins[i] - shapeOf(op.getInput())[dim];
    Value padded = chain.pad(op.getInput(), dim, w.begins[i], behind, -std::numeric_limits<double>::infinity());
    Value apart = chain.reshape(padded, withDim(shapeOf(padded), dim, {blocks, stride}));
    auto maximum = [&](Value value) -> Value {
      return rewriter.create<ReduceMaxOp>(chain.loc, value, ArrayRef<int64_t>{dim + 1}, /*keepdims=*/false);
    };
    Value result;
    if (whole != 0) {
      Window neighbours = w;
      neighbours.makeUnit(i);
      neighbours.kernel[i] = whole;
      result = maximum(chain.slice(apart, dim, 0, out - 1 + whole));
      result = whole == 1 ? result : poolLike(op, result, neighbours, rewriter);
    }
    if (rest != 0) {
      Value last = maximum(chain.slice(chain.slice(apart, dim, whole, out), dim + 1, 0, rest));
      result = result ? rewriter.create<MaxOp>(chain.loc, result, last).getResult() : last;
    }
    return result;
  }
};

} // namespace

void populatePools(RewritePatternSet &patterns, int64_t mostPixels) {
  patterns.add<UnitPool<MaxPoolOp>, UnitPool<AvgPoolOp>>(patterns.getContext());
  patterns.add<LongStridePool>(patterns.getContext());
  patterns.add<LargePool<MaxPoolOp>, LargePool<AvgPoolOp>>(patterns.getContext(), mostPixels);
}

} // namespace pto_mlir::top::decompose
