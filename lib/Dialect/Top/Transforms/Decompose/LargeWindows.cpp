// Convolutions whose kernel, stride, dilation or padding img2col cannot express, or whose window fits no memory. One
// dimension at a time: padding becomes a pad; blocks of one stride become channels (a kernel of 400 at stride 160 is a
// product over rows that begin 160 apart); taps become channels; a long kernel becomes a sum of convolutions.
#include "Decompose.h"

#include "pto_mlir/Dialect/Top/IR/Layout.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

class LargeWindow : public OpRewritePattern<ConvOp> {
public:
  LargeWindow(MLIRContext *context, int64_t most) : OpRewritePattern(context), most(most) {}

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != "NCHW")
      return rewriter.notifyMatchFailure(op, "channels are last already");
    Window w(op.getKernel(), op.getStrides(), op.getDilations(), op.getPads());
    for (size_t i = 0; i < w.rank(); ++i) {
      if (std::max({w.kernel[i], w.strides[i], w.kernel[i] > 1 ? w.dilations[i] : 1, w.begins[i], w.ends[i]}) <= most)
        continue;
      rewriter.replaceOp(op, express(op, w, i, rewriter));
      return success();
    }
    bool isRefused = op->hasAttr(kNoKernelAttr) && w.rank() == 2 && (w.kernel[0] > 1 || w.kernel[1] > 1);
    if (isRefused || (w.rank() == 2 && w.kernel[0] > 1 && w.kernel[1] > 1 &&
                      (reach(w, 0) * reach(w, 1) > kMostPixels || (!isOnVectors(op) && hasManyTaps(w))))) {
      size_t i = reach(w, 0) < reach(w, 1);
      Chain chain(rewriter);
      Value input = chain.pad(op.getInput(), 2 + i, w.begins[i], w.ends[i]);
      rewriter.replaceOp(op, tapsAsChannels(op, chain, input, w, i, shapeOf(op.getOutput())[2 + i]));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "img2col can express it");
  }

private:
  // One block of channels of a window's pixels, and of its taps' weights for one block of features, has to fit L1
  // beside the other operand, twice (ISA/Archs.td): 8192 * 32 bytes, 512 * 16 * 32 bytes.
  static constexpr int64_t kMostPixels = 8192, kMostTaps = 512;

  // With one of each: panels of f32, whose blocks are 8 channels, hold whole boxes of 16 rows, so that an odd number of
  // taps takes two blocks. A slab of the image ends with a whole stride.
  static constexpr int64_t kMostBytes = (512 - 4) * 1024;

  static bool hasManyTaps(const Window &w) {
    int64_t taps = w.kernel[0] * w.kernel[1], blocks = taps % 2 ? 2 : 1;
    int64_t pixels = (reach(w, 0) + w.strides[0]) * (reach(w, 1) + w.strides[1]);
    return taps > kMostTaps || blocks * (pixels * 32 + taps * 16 * 32) > kMostBytes;
  }

  static bool isOnVectors(ConvOp op) {
    return isDepthwise(op.getGroup(), shapeOf(op.getInput())[1], shapeOf(op.getOutput())[1]);
  }
  static int64_t reach(const Window &w, size_t i) { return (w.kernel[i] - 1) * w.dilations[i] + 1; }

  // The convolution of a padded input with another filter and window along dimension i.
  static Value conv(ConvOp op, Location loc, Value input, Value filter, Value bias, const Window &w,
                    PatternRewriter &rewriter) {
    return rewriter.create<ConvOp>(loc, input, filter, bias, w.strides, w.pads(), w.dilations, op.getGroup(),
                                   op.getLayout(), op.getToAttr());
  }

  Value express(ConvOp op, Window w, size_t i, PatternRewriter &rewriter) const {
    Chain chain(rewriter);
    Value input = chain.pad(op.getInput(), 2 + i, w.begins[i], w.ends[i]), filter = op.getFilter();
    w.begins[i] = w.ends[i] = 0;
    int64_t out = shapeOf(op.getOutput())[2 + i];
    bool longStride = w.strides[i] > most, sparse = w.kernel[i] > 1 && w.dilations[i] > 1;
    if (w.strides[i] > 1 && !sparse && (longStride || w.kernel[i] > most))
      return strideBlocks(op, chain, input, w, i, out);
    if (longStride || (w.kernel[i] > 1 && w.dilations[i] > most))
      return tapsAsChannels(op, chain, input, w, i, out);
    if (w.kernel[i] > most)
      return kernelParts(op, chain, input, w, i, out);
    return conv(op, op.getLoc(), input, filter, op.getBias(), w, rewriter); // the padding alone
  }

  Value tapsAsChannels(ConvOp op, Chain &chain, Value input, Window w, size_t i, int64_t out) const {
    SmallVector<int64_t> starts;
    for (int64_t tap = 0; tap < w.kernel[i]; ++tap)
      starts.push_back(tap * w.dilations[i]);
    input = stackTaps(chain, input, i, starts, w.strides[i], out, op.getGroup());
    Value filter = foldTaps(chain, op.getFilter(), i);
    w.makeUnit(i);
    return conv(op, op.getLoc(), input, filter, op.getBias(), w, chain.rewriter);
  }

  // Stride s along dimension i: blocks of s elements become channels, K taps ceil(K / s) of them.
  Value strideBlocks(ConvOp op, Chain &chain, Value input, Window w, size_t i, int64_t out) const {
    int64_t stride = w.strides[i], taps = llvm::divideCeil(w.kernel[i], stride), group = op.getGroup(), dim = 2 + i;
    int64_t blocks = out + taps - 1, rank = w.rank() + 2;
    input = chain.pad(input, dim, 0, blocks * stride - shapeOf(input)[dim]);
    SmallVector<int64_t> shape(shapeOf(input));
    int64_t channels = shape[1] / group;
    // [N, G*C, .., blocks * s, ..] -> [N, G, C, .., blocks, s, ..] -> [N, G, s, C, .., blocks, ..]
    SmallVector<int64_t> split = withDim(withDim(shape, dim, {blocks, stride}), 1, {group, channels});
    SmallVector<int64_t> perm{0, 1, dim + 2, 2};
    for (int64_t d = 3; d < rank + 2; ++d)
      if (d != dim + 2)
        perm.push_back(d);
    SmallVector<int64_t> result = withDim(shape, dim, blocks);
    result[1] = shape[1] * stride;
    input = chain.reshape(chain.permute(chain.reshape(input, split), perm), result);
    // [O, C, .., K, ..] -> [O, C, .., taps, s, ..] -> [O, s, C, .., taps, ..]
    Value filter = chain.pad(op.getFilter(), dim, 0, taps * stride - w.kernel[i]);
    shape.assign(shapeOf(filter).begin(), shapeOf(filter).end());
    perm = {0, dim + 1, 1};
    for (int64_t d = 2; d < rank + 1; ++d)
      if (d != dim + 1)
        perm.push_back(d);
    result = withDim(shape, dim, taps);
    result[1] = shape[1] * stride;
    filter = chain.reshape(chain.permute(chain.reshape(filter, withDim(shape, dim, {taps, stride})), perm), result);
    w.makeUnit(i);
    return conv(op, op.getLoc(), input, filter, op.getBias(), w, chain.rewriter);
  }

  // A sum of convolutions, each with some taps of the kernel.
  Value kernelParts(ConvOp op, Chain &chain, Value input, Window w, size_t i, int64_t out) const {
    int64_t kernel = w.kernel[i], parts = llvm::divideCeil(kernel, most), part = llvm::divideCeil(kernel, parts);
    Value sum;
    for (int64_t tap = 0; tap < kernel; tap += part) {
      int64_t taps = std::min(part, kernel - tap), span = (taps - 1) * w.dilations[i] + (out - 1) * w.strides[i] + 1;
      Value seen = chain.slice(input, 2 + i, tap * w.dilations[i], span);
      Value some = chain.slice(op.getFilter(), 2 + i, tap, taps);
      Value result = conv(op, chain.loc, seen, some, sum ? Value() : op.getBias(), w, chain.rewriter);
      Location loc = tap + taps == kernel ? op.getLoc() : chain.loc;
      sum = sum ? chain.rewriter.create<AddOp>(loc, sum, result) : result;
    }
    return sum;
  }

  int64_t most;
};

// A transposed convolution with a large kernel or padding, or with a filter that is computed, is a convolution of the
// spread input with the mirrored filter.
class LargeTransposed : public OpRewritePattern<ConvTransposeOp> {
public:
  LargeTransposed(MLIRContext *context, int64_t most) : OpRewritePattern(context), most(most) {}

  LogicalResult matchAndRewrite(ConvTransposeOp op, PatternRewriter &rewriter) const override {
    Window w(shapeOf(op.getFilter()).drop_front(2), op.getStrides(), op.getDilations(), op.getPads());
    auto isLarge = [&](ArrayRef<int64_t> sizes) { return llvm::any_of(sizes, [&](int64_t n) { return n > most; }); };
    bool isComputed = !isConstant(op.getFilter());
    if (op.getLayout() != "NCHW" ||
        !(isComputed || op->hasAttr(kNoKernelAttr) || isLarge(w.kernel) || isLarge(w.strides) || isLarge(w.dilations)))
      return rewriter.notifyMatchFailure(op, "img2col can express it");
    Chain chain(rewriter);
    Value input = op.getInput(), filter = op.getFilter();
    ArrayRef<int64_t> out = shapeOf(op.getOutput());
    SmallVector<int64_t> shape(shapeOf(filter));
    int64_t group = op.getGroup(), rank = shape.size();
    SmallVector<int64_t> starts(rank, 0), ends(shape), steps(rank, 1);
    for (size_t i = 0; i < w.rank(); ++i) {
      int64_t reach = (w.kernel[i] - 1) * w.dilations[i], begin = reach - w.begins[i];
      input = chain.spread(input, 2 + i, w.strides[i]);
      input = chain.pad(input, 2 + i, begin, out[2 + i] + reach - shapeOf(input)[2 + i] - begin);
      starts[2 + i] = w.kernel[i] - 1, ends[2 + i] = steps[2 + i] = -1;
      w.strides[i] = 1, w.begins[i] = w.ends[i] = 0;
    }
    // [G * C, O, ..] -> [G * O, C, ..]
    filter = rewriter.create<SliceOp>(chain.loc, filter, starts, ends, steps);
    int64_t channels = shape[0] / group;
    filter = chain.reshape(filter, withDim(shape, 0, {group, channels}));
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
    std::swap(perm[1], perm[2]);
    std::swap(shape[0], shape[1]);
    shape[0] *= group, shape[1] = channels;
    filter = chain.reshape(chain.permute(filter, perm), shape);
    rewriter.replaceOpWithNewOp<ConvOp>(op, input, filter, op.getBias(), w.strides, w.pads(), w.dilations, group,
                                        op.getLayout(), TypeAttr());
    return success();
  }

private:
  int64_t most;
};

} // namespace

void populateLargeWindows(RewritePatternSet &patterns, int64_t most) {
  patterns.add<LargeWindow, LargeTransposed>(patterns.getContext(), most);
}

} // namespace pto_mlir::top::decompose
