// A kernel on windows has an instruction per tap. A long window is taken as blocks of about the square root of its
// taps: each block once at every position, then the blocks of a window, then the taps that are left.
#include "Decompose.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

constexpr int64_t kMostTaps = 256;
/// Taps beyond which a kernel would have too many instructions, however few its outputs are.
constexpr int64_t kMostInstructions = 2048;
/// Pixels under one window, of which a block of channels has to fit the unified buffer (ISA/Archs.td) beside the rest.
constexpr int64_t kMostReach = 4096;

template <typename OpTy> class LongPool : public OpRewritePattern<OpTy> {
public:
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Window w(op.getKernel(), op.getStrides(), op.getDilations(), op.getPads());
    size_t i = llvm::max_element(w.kernel) - w.kernel.begin();
    bool isAlone = llvm::all_of(llvm::seq<size_t>(0, w.rank()), [&](size_t j) {
      return j == i || (w.kernel[j] == 1 && w.begins[j] == 0 && w.ends[j] == 0);
    });
    if (op.getLayout() != "NCHW" || w.kernel[i] <= kMostTaps || !isAlone ||
        !isa<FloatType>(op.getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "has a short window");
    // Blocks are taken at every position: windows far apart are cheaper by themselves.
    auto block = static_cast<int64_t>(std::sqrt(double(w.kernel[i])));
    int64_t length = shapeOf(op.getInput())[2 + i], outputs = shapeOf(op.getOutput())[2 + i];
    if (w.kernel[i] <= kMostInstructions && length * block >= outputs * w.kernel[i])
      return rewriter.notifyMatchFailure(op, "has few windows");
    Value result = byBlocks(op, w, i, rewriter);
    result.setLoc(op.getLoc());
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static constexpr bool isMaximum = std::is_same_v<OpTy, MaxPoolOp>;

  static Value byBlocks(OpTy op, Window w, size_t i, PatternRewriter &rewriter) {
    Chain chain(rewriter);
    auto dim = static_cast<int64_t>(2 + i);
    ArrayRef<int64_t> out = shapeOf(op.getOutput());
    int64_t kernel = w.kernel[i], dilation = w.dilations[i], stride = w.strides[i], begin = w.begins[i];
    int64_t length = shapeOf(op.getInput())[dim], last = (out[dim] - 1) * stride;
    double border = isMaximum ? -std::numeric_limits<double>::infinity() : 0;
    Value input = chain.pad(op.getInput(), dim, begin, last + (kernel - 1) * dilation + 1 - begin - length, border);
    for (size_t j = 0; j < w.rank(); ++j)
      if (j != i) {
        input = chain.slice(input, 2 + j, 0, out[2 + j], w.strides[j]);
        w.makeUnit(j);
      }
    w.begins[i] = w.ends[i] = 0;
    auto pool = [&](Value from, int64_t taps, int64_t step, int64_t by) -> Value {
      w.kernel[i] = taps, w.dilations[i] = step, w.strides[i] = by;
      return poolLike(op, from, w, rewriter);
    };
    // `taps` of `from`, `step` apart, from element `first` of each window on.
    auto partOf = [&](Value from, int64_t first, int64_t taps, int64_t step) {
      int64_t reach = (taps - 1) * step + 1;
      return reach > kMostReach ? stacked(chain, from, dim, first, taps, step, stride, out[dim])
                                : pool(chain.slice(from, dim, first, last + reach), taps, step, stride);
    };
    auto block = static_cast<int64_t>(std::sqrt(static_cast<double>(kernel)));
    int64_t blocks = kernel / block, rest = kernel % block;
    Value everywhere = pool(input, block, dilation, 1);
    Value result = partOf(everywhere, 0, blocks, block * dilation);
    if constexpr (isMaximum) {
      // The last block may overlap the one in front of it.
      if (rest != 0)
        result = rewriter.create<MaxOp>(chain.loc, result,
                                        chain.slice(everywhere, dim, (kernel - block) * dilation, out[dim], stride));
    } else {
      std::vector<double> share = shares(op, begin, kernel, dilation, stride, i);
      result = scaled(chain, result, share, double(kernel - rest) / double(kernel), dim);
      if (rest != 0)
        result = rewriter.create<AddOp>(chain.loc, result,
                                        scaled(chain, partOf(input, (kernel - rest) * dilation, rest, dilation), share,
                                               double(rest) / double(kernel), dim));
    }
    return result;
  }

  /// Each tap's elements as one row of a new dimension, which is reduced.
  static Value stacked(Chain &chain, Value from, int64_t dim, int64_t first, int64_t taps, int64_t step, int64_t stride,
                       int64_t count) {
    SmallVector<Value> slices;
    for (int64_t tap = 0; tap < taps; ++tap) {
      Value slice = chain.slice(from, dim, first + tap * step, count, stride);
      slices.push_back(chain.reshape(slice, withDim(shapeOf(slice), dim, {1, count})));
    }
    using Reduce = std::conditional_t<isMaximum, ReduceMaxOp, ReduceMeanOp>;
    return chain.rewriter.create<Reduce>(chain.loc, chain.concat(slices, dim), dim, /*keepdims=*/false);
  }

  /// By how much the mean over a window's elements exceeds the one over all its taps, per position.
  static std::vector<double> shares(AvgPoolOp op, int64_t begin, int64_t kernel, int64_t dilation, int64_t stride,
                                    size_t i) {
    int64_t length = shapeOf(op.getInput())[2 + i];
    bool padded = op.getCountIncludePad();
    int64_t least = padded ? -begin : 0, end = length + (padded ? op.getPads()[op.getKernel().size() + i] : 0);
    std::vector<double> share;
    for (int64_t position = 0; position < shapeOf(op.getOutput())[2 + i]; ++position) {
      int64_t count = 0;
      for (int64_t tap = 0, at = position * stride - begin; tap < kernel; ++tap, at += dilation)
        count += at >= least && at < end;
      share.push_back(double(kernel) / double(std::max<int64_t>(count, 1)));
    }
    return share;
  }

  static Value scaled(Chain &chain, Value value, const std::vector<double> &share, double factor, int64_t dim) {
    SmallVector<int64_t> shape(shapeOf(value).size(), 1);
    bool isEqual = llvm::all_equal(share);
    std::vector<double> factors(isEqual ? 1 : share.size());
    for (auto [to, from] : llvm::zip(factors, share))
      to = from * factor;
    shape[dim] = static_cast<int64_t>(factors.size());
    if (isEqual && factors.front() == 1)
      return value;
    return chain.rewriter.create<MulOp>(chain.loc, value,
                                        chain.constant("pool", getElementTypeOrSelf(value.getType()), shape, factors));
  }
};

} // namespace

void populateLongPools(RewritePatternSet &patterns) {
  patterns.add<LongPool<MaxPoolOp>, LongPool<AvgPoolOp>>(patterns.getContext());
}

} // namespace pto_mlir::top::decompose
