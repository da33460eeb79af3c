//===- ConvTranspose.cpp - transposed convolutions as plain ones ----------===//
//
// With stride s, output position o + pad = s * q + p is the sum over taps e = p + s * t
// (e in elements, including dilation) of input positions q - t. So each of the s phases
// p is a convolution of stride 1 with the taps of that phase, and one convolution with
// s times the features computes all phases, which are then interleaved. No zeros are
// inserted between inputs. A kernel as large as the stride has one tap per phase: a
// matrix product.
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// One spatial dimension.
struct Axis {
  int64_t kernel, stride, dilation, taps; // taps: per phase
  int64_t first, count;                   // range of computed positions q
  int64_t low, high;                      // pads of the plain convolution, negative to crop the input
  int64_t start, size;                    // range of the output within the phases of all positions
};

Axis plan(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t padBegin, int64_t out) {
  auto steps = [stride](int64_t elements) { return static_cast<int64_t>(llvm::divideCeil(elements, stride)); };
  Axis axis{kernel, stride, dilation, steps(dilation * (kernel - 1) + 1), padBegin / stride, 0, 0, 0, 0, out};
  axis.count = steps(padBegin + out) - axis.first;
  axis.low = axis.taps - 1 - axis.first;
  axis.high = axis.first + axis.count - in;
  axis.start = padBegin - axis.first * stride;
  return axis;
}

// Reorders the filter: [kernel.., Cin, F] -> [taps.., Cin/G, G * phases * F], taps in correlation order.
std::vector<char> phaseFilter(const top::Weight &weight, ArrayRef<Axis> axes, int64_t groups, int64_t phases) {
  int64_t bytes = top::elementBytes(weight.type.getElementType());
  ArrayRef<int64_t> shape = weight.type.getShape();
  int64_t channels = shape[shape.size() - 2] / groups, features = shape.back(), taps = 1;
  for (const Axis &axis : axes)
    taps *= axis.taps;
  std::vector<char> moved(taps * channels * groups * phases * features * bytes, 0);
  SmallVector<int64_t> index(axes.size(), 0);
  const char *source = weight.bytes.data();
  for (const char *end = source + weight.bytes.size(); source != end;) {
    int64_t tap = 0, phase = 0;
    for (auto [axis, k] : llvm::zip(axes, index)) {
      int64_t element = k * axis.dilation;
      tap = tap * axis.taps + axis.taps - 1 - element / axis.stride;
      phase = phase * axis.stride + element % axis.stride;
    }
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t channel = 0; channel < channels; ++channel, source += features * bytes)
        std::memcpy(moved.data() + (((tap * channels + channel) * groups + group) * phases + phase) * features * bytes,
                    source, features * bytes);
    for (int64_t dim = axes.size() - 1; dim >= 0 && ++index[dim] == axes[dim].kernel; --dim)
      index[dim] = 0;
  }
  return moved;
}

struct ConvTransposeLowering : OpRewritePattern<top::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ConvTransposeOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != "NHWC") {
      op.emitOpError("has layout NCHW; run top-layout before convert-top-to-linalg");
      return failure();
    }
    std::optional<top::Weight> weight = top::getConstant(op.getFilter());
    if (!weight) {
      op.emitOpError("needs a constant filter");
      return failure();
    }
    auto inputType = cast<RankedTensorType>(op.getInput().getType()), type = cast<RankedTensorType>(op.getType());
    int64_t spatial = inputType.getRank() - 2, groups = op.getGroup(), features = weight->type.getShape().back(),
            phases = 1;
    SmallVector<Axis> axes;
    for (int64_t i = 0; i < spatial; ++i) {
      axes.push_back(plan(inputType.getDimSize(1 + i), weight->type.getDimSize(i), op.getStrides()[i],
                          op.getDilations()[i], op.getPads()[i], type.getDimSize(1 + i)));
      phases *= axes.back().stride;
    }
    Location inner = innerLoc(op.getLoc());
    Value convolved = convolve(op, *weight, axes, phases, rewriter);
    Value value = interleave(inner, convolved, axes, groups, features, rewriter);
    rewriter.replaceOp(op, crop(op, value, axes, rewriter));
    return success();
  }

private:
  static Value convolve(top::ConvTransposeOp op, const top::Weight &weight, ArrayRef<Axis> axes, int64_t phases,
                        PatternRewriter &rewriter) {
    Location inner = innerLoc(op.getLoc());
    int64_t groups = op.getGroup(), features = weight.type.getShape().back(), spatial = axes.size();
    SmallVector<int64_t> filterShape, pads, highs, ones(spatial, 1);
    auto inputType = cast<RankedTensorType>(op.getInput().getType());
    SmallVector<int64_t> starts(spatial + 2, 0), ends(inputType.getShape()), steps(spatial + 2, 1);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      filterShape.push_back(axis.taps);
      starts[i + 1] = std::max<int64_t>(-axis.low, 0);
      ends[i + 1] += std::min<int64_t>(axis.high, 0);
      pads.push_back(std::max<int64_t>(axis.low, 0));
      highs.push_back(std::max<int64_t>(axis.high, 0));
    }
    llvm::append_range(pads, highs);
    Value input = op.getInput();
    if (llvm::any_of(starts, [](int64_t v) { return v != 0; }) || ArrayRef(ends) != inputType.getShape())
      input = rewriter.create<top::SliceOp>(inner, input, starts, ends, steps);
    filterShape.push_back(weight.type.getShape().end()[-2] / groups);
    filterShape.push_back(groups * phases * features);
    Value filter =
        top::createConstant(rewriter, inner, "phases", RankedTensorType::get(filterShape, weight.type.getElementType()),
                            phaseFilter(weight, axes, groups, phases));
    return rewriter.create<top::ConvOp>(inner, input, filter, repeatBias(op, phases, rewriter), ones, pads, ones,
                                        groups, "NHWC", TypeAttr());
  }

  // [G * F] -> [G * phases * F]
  static Value repeatBias(top::ConvTransposeOp op, int64_t phases, PatternRewriter &rewriter) {
    Value bias = op.getBias();
    if (!bias || phases == 1)
      return bias;
    auto type = cast<RankedTensorType>(bias.getType());
    int64_t groups = op.getGroup(), features = type.getNumElements() / groups;
    Location inner = innerLoc(op.getLoc());
    Value rows = rewriter.create<top::ReshapeOp>(inner, bias, ArrayRef<int64_t>{groups, 1, features});
    if (std::optional<top::Weight> weight = top::getConstant(bias)) {
      std::vector<char> bytes;
      size_t row = weight->bytes.size() / groups;
      for (int64_t group = 0; group < groups; ++group)
        for (int64_t phase = 0; phase < phases; ++phase)
          bytes.insert(bytes.end(), weight->bytes.begin() + group * row, weight->bytes.begin() + (group + 1) * row);
      return top::createConstant(rewriter, inner, "phases_bias",
                                 RankedTensorType::get({type.getNumElements() * phases}, type.getElementType()),
                                 std::move(bytes));
    }
    Value repeated = rewriter.create<top::ConcatOp>(inner, SmallVector<Value>(phases, rows), 1);
    return rewriter.create<top::ReshapeOp>(inner, repeated, type.getNumElements() * phases);
  }

  // [N, Q1.., G * s1 * .. * F] -> [N, Q1 * s1, .., G * F]
  static Value interleave(Location loc, Value value, ArrayRef<Axis> axes, int64_t groups, int64_t features,
                          PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(value.getType());
    if (llvm::all_of(axes, [](const Axis &axis) { return axis.stride == 1; }))
      return value;
    // Skip unit dimensions, so that only dimensions that move are transposed.
    SmallVector<int64_t> split, whole{type.getDimSize(0)};
    SmallVector<std::pair<int64_t, int64_t>> order; // (place in the result, place in `split`)
    auto add = [&](int64_t size, int64_t place) {
      if (size == 1)
        return;
      order.push_back({place, static_cast<int64_t>(split.size())});
      split.push_back(size);
    };
    int64_t rank = axes.size();
    add(type.getDimSize(0), 0);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      add(axis.count, 1 + 2 * i);
      whole.push_back(axis.count * axis.stride);
    }
    add(groups, 1 + 2 * rank);
    for (auto [i, axis] : llvm::enumerate(axes))
      add(axis.stride, 2 + 2 * i);
    add(features, 2 + 2 * rank);
    whole.push_back(groups * features);
    llvm::sort(order);
    SmallVector<int64_t> perm = llvm::map_to_vector(order, [](auto entry) { return entry.second; });
    if (!llvm::is_sorted(perm)) {
      value = rewriter.create<top::ReshapeOp>(loc, value, split);
      value = rewriter.create<top::PermuteOp>(loc, value, perm);
    }
    return rewriter.create<top::ReshapeOp>(loc, value, whole);
  }

  // Crops all positions to the output; the result gets the op's name.
  static Value crop(top::ConvTransposeOp op, Value value, ArrayRef<Axis> axes, PatternRewriter &rewriter) {
    ArrayRef<int64_t> have = cast<RankedTensorType>(value.getType()).getShape();
    if (have == op.getType().getShape()) {
      value.getDefiningOp()->setLoc(op.getLoc());
      return value;
    }
    SmallVector<int64_t> starts(have.size(), 0), ends(have), steps(have.size(), 1);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      starts[i + 1] = axis.start;
      ends[i + 1] = axis.start + axis.size;
    }
    return rewriter.create<top::SliceOp>(op.getLoc(), value, starts, ends, steps);
  }
};

} // namespace

void populateConvTranspose(RewritePatternSet &patterns) { patterns.add<ConvTransposeLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
