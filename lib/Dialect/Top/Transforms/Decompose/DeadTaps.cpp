// Taps of a kernel that meet nothing but padding, as those of a wide dilation on a small image do: the kernel without
// them computes the same.
#include "Decompose.h"

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

/// The numbers of taps along one dimension, first and last ones, that lie beside the input for every output. None where
/// all do: without any of them there is no image.
std::pair<int64_t, int64_t> deadTaps(const Window &w, size_t i, int64_t in, int64_t out) {
  int64_t first = 0, last = 0, taps = w.kernel[i];
  auto isBefore = [&](int64_t tap) { return (out - 1) * w.strides[i] - w.begins[i] + tap * w.dilations[i] < 0; };
  auto isBehind = [&](int64_t tap) { return tap * w.dilations[i] - w.begins[i] >= in; };
  while (first < taps && isBefore(first))
    ++first;
  while (first + last < taps && isBehind(taps - 1 - last))
    ++last;
  return first + last < taps ? std::pair(first, last) : std::pair<int64_t, int64_t>(0, 0);
}

struct DeadTaps : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != "NCHW")
      return rewriter.notifyMatchFailure(op, "another layout");
    Window window(op.getKernel(), op.getStrides(), op.getDilations(), op.getPads());
    ArrayRef<int64_t> in = shapeOf(op.getInput()), out = shapeOf(op.getOutput());
    Chain chain(rewriter);
    Value input = op.getInput(), filter = op.getFilter();
    bool changed = false;
    for (size_t i = 0; i < window.rank(); ++i) {
      auto [first, last] = deadTaps(window, i, in[i + 2], out[i + 2]);
      if (first + last == 0)
        continue;
      changed = true;
      int64_t dilation = window.dilations[i];
      window.kernel[i] -= first + last;
      window.begins[i] -= first * dilation;
      window.ends[i] -= last * dilation;
      if (window.kernel[i] == 1)
        window.dilations[i] = 1;
      filter = chain.slice(filter, i + 2, first, window.kernel[i]);
      // What no tap reaches any more.
      input = chain.pad(input, i + 2, std::min<int64_t>(window.begins[i], 0), std::min<int64_t>(window.ends[i], 0));
      window.begins[i] = std::max<int64_t>(window.begins[i], 0);
      window.ends[i] = std::max<int64_t>(window.ends[i], 0);
    }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "every tap meets the input");
    rewriter.replaceOpWithNewOp<ConvOp>(op, op.getOutput().getType(), input, filter, op.getBias(), window.strides,
                                        window.pads(), window.dilations, op.getGroup(), op.getLayout(), op.getToAttr());
    return success();
  }
};

} // namespace

void populateDeadTaps(RewritePatternSet &patterns) {
  patterns.add<DeadTaps>(patterns.getContext(), /*benefit=*/2); // before a large dilation becomes something else
}

} // namespace pto_mlir::top::decompose
