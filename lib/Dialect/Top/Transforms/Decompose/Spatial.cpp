// Convolutions and pools over three and more spatial dimensions. The taps along the first dimension become channels,
// then that dimension, now of independent positions, becomes part of the batch. Maxima and means are taken along the
// first dimension after all others.
#include "Decompose.h"

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

template <typename OpTy> bool isLarge(OpTy op) {
  return op.getLayout() == "NCHW" && cast<RankedTensorType>(op.getInput().getType()).getRank() > 4;
}

// Whether the window has one element at each position of the first spatial dimension.
bool isPointwise(const Window &w) {
  return w.kernel[0] == 1 && w.strides[0] == 1 && w.begins[0] == 0 && w.ends[0] == 0;
}

// [N, C, D, spatial..] -> [N * D, C, spatial..]
Value intoBatch(Chain &chain, Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::swap(perm[1], perm[2]);
  SmallVector<int64_t> result{shape[0] * shape[2], shape[1]};
  llvm::append_range(result, shape.drop_front(3));
  return chain.reshape(chain.permute(value, perm), result);
}

// Back, as the last op of the pattern.
void replaceFromBatch(Chain &chain, Operation *op, Value value, int64_t depth) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> split = withDim(shape, 0, {shape[0] / depth, depth});
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  std::swap(perm[1], perm[2]);
  Value parts = chain.reshape(value, split);
  auto result = chain.rewriter.create<PermuteOp>(op->getLoc(), parts, perm);
  chain.rewriter.replaceOp(op, result);
}

Value withoutFirst(Chain &chain, Value filter) {
  SmallVector<int64_t> shape(shapeOf(filter));
  shape.erase(shape.begin() + 2);
  return chain.reshape(filter, shape);
}

struct SpatialConv : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (!isLarge(op))
      return rewriter.notifyMatchFailure(op, "at most two spatial dimensions");
    Chain chain(rewriter);
    Window window(op.getKernel(), op.getStrides(), op.getDilations(), op.getPads());
    Value input = op.getInput(), filter = op.getFilter();
    int64_t out = shapeOf(op.getOutput())[2];
    if (!isPointwise(window)) {
      input = chain.pad(input, 2, window.begins[0], window.ends[0]);
      SmallVector<int64_t> starts;
      for (int64_t tap = 0; tap < window.kernel[0]; ++tap)
        starts.push_back(tap * window.dilations[0]);
      input = stackTaps(chain, input, 0, starts, window.strides[0], out, op.getGroup());
      filter = foldTaps(chain, filter, 0);
    }
    window.dropFirst();
    Value result = rewriter.create<ConvOp>(chain.loc, intoBatch(chain, input), withoutFirst(chain, filter),
                                           op.getBias(), window.strides, window.pads(), window.dilations, op.getGroup(),
                                           op.getLayout(), op.getToAttr());
    replaceFromBatch(chain, op, result, out);
    return success();
  }
};

struct SpatialConvTranspose : OpRewritePattern<ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvTransposeOp op, PatternRewriter &rewriter) const override {
    if (!isLarge(op))
      return rewriter.notifyMatchFailure(op, "at most two spatial dimensions");
    Chain chain(rewriter);
    Window window(shapeOf(op.getFilter()).drop_front(2), op.getStrides(), op.getDilations(), op.getPads());
    Value input = op.getInput(), filter = op.getFilter();
    int64_t out = shapeOf(op.getOutput())[2], group = op.getGroup();
    SmallVector<int64_t> outputPadding(op.getOutputPadding());
    if (!isPointwise(window)) {
      int64_t reach = (window.kernel[0] - 1) * window.dilations[0];
      input = chain.spread(input, 2, window.strides[0]);
      // Output position o receives tap k of element o + begin - k * dilation.
      int64_t begin = reach - window.begins[0];
      input = chain.pad(input, 2, begin, out + reach - shapeOf(input)[2] - begin);
      SmallVector<int64_t> starts;
      for (int64_t tap = 0; tap < window.kernel[0]; ++tap)
        starts.push_back(reach - tap * window.dilations[0]);
      input = stackTaps(chain, input, 0, starts, 1, out, group);
      filter = foldInputTaps(chain, filter, group);
    }
    window.dropFirst();
    outputPadding.erase(outputPadding.begin());
    Value result = rewriter.create<ConvTransposeOp>(chain.loc, intoBatch(chain, input), withoutFirst(chain, filter),
                                                    op.getBias(), window.strides, window.pads(), window.dilations,
                                                    outputPadding, group, op.getLayout());
    replaceFromBatch(chain, op, result, out);
    return success();
  }

  // [G * C, O, K, ..] -> [G * K * C, O, 1, ..]
  static Value foldInputTaps(Chain &chain, Value filter, int64_t group) {
    ArrayRef<int64_t> shape = shapeOf(filter);
    Value parts = chain.reshape(filter, withDim(shape, 0, {group, shape[0] / group}));
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, shape.size() + 1));
    perm[1] = 3, perm[2] = 1, perm[3] = 2;
    SmallVector<int64_t> result = withDim(shape, 2, 1);
    result[0] = shape[0] * shape[2];
    return chain.reshape(chain.permute(parts, perm), result);
  }
};

template <typename OpTy> struct SpatialPool : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isLarge(op))
      return rewriter.notifyMatchFailure(op, "at most two spatial dimensions");
    Chain chain(rewriter);
    Window rest(op.getKernel(), op.getStrides(), op.getDilations(), op.getPads());
    Window first({rest.kernel[0], 1}, {rest.strides[0], 1}, {rest.dilations[0], 1},
                 {rest.begins[0], 0, rest.ends[0], 0});
    rest.dropFirst();
    ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getOutput());
    SmallVector<int64_t> merged{in[0], in[1] * in[2]};
    llvm::append_range(merged, in.drop_front(3));
    Value inner = poolLike(op, chain.reshape(op.getInput(), merged), rest, rewriter);
    Value columns = chain.reshape(inner, {in[0], in[1], in[2], ShapedType::getNumElements(out.drop_front(3))});
    Value outer = poolLike(op, columns, first, rewriter);
    rewriter.replaceOp(op, rewriter.create<ReshapeOp>(op.getLoc(), outer, out));
    return success();
  }
};

} // namespace

void populateSpatial(RewritePatternSet &patterns) {
  patterns.add<SpatialConv, SpatialConvTranspose, SpatialPool<MaxPoolOp>, SpatialPool<AvgPoolOp>>(
      patterns.getContext());
}

} // namespace pto_mlir::top::decompose
