//===- Pool.cpp - maximum and mean of windows -----------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// Number of elements of [0, limit) in the window at `begin`.
int64_t elementsInside(int64_t begin, int64_t kernel, int64_t dilation, int64_t low, int64_t limit) {
  int64_t count = 0;
  for (int64_t k = 0; k < kernel; ++k) {
    int64_t at = begin + k * dilation;
    count += at >= low && at < limit;
  }
  return count;
}

template <typename TopOp> struct PoolLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  static constexpr bool isMax = std::is_same_v<TopOp, top::MaxPoolOp>;

  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    auto inputType = cast<RankedTensorType>(op.getInput().getType());
    FailureOr<ImageWindow> image = ImageWindow::get(op, op.getLayout(), inputType);
    if (failed(image))
      return failure();
    auto resultType = cast<RankedTensorType>(op.getType());
    Type storage = resultType.getElementType();
    if (!isa<FloatType>(storage)) {
      op.emitOpError("on ") << storage << " has no lowering; cast the input to float";
      return failure();
    }
    Location loc = op.getLoc(), inner = innerLoc(loc);
    Type f32 = rewriter.getF32Type();
    SmallVector<int64_t> kernel = image->numbers(op.getKernel(), 1), strides = image->numbers(op.getStrides(), 1),
                         dilations = image->numbers(op.getDilations(), 1);
    auto [low, high] = image->pads(op.getEffectivePads());
    SmallVector<int64_t> inputShape = image->shape(inputType.getShape()), shape = image->shape(resultType.getShape());
    double start = isMax ? -std::numeric_limits<double>::infinity() : 0;
    Value input = reshape(rewriter, inner, op.getInput(), inputShape);
    // A negative end pad means that no window reads the last rows; it can be ignored.
    for (int64_t &amount : high)
      amount = std::max<int64_t>(amount, 0);
    input = pad(rewriter, inner, input, {0, low[0], low[1], 0}, {0, high[0], high[1], 0}, start);
    Value window = empty(rewriter, loc, kernel, f32);
    Value init = filled(rewriter, loc, shape, f32, start);
    bool named = isMax && storage == f32;
    using LinalgOp = std::conditional_t<isMax, linalg::PoolingNhwcMaxOp, linalg::PoolingNhwcSumOp>;
    Value value = rewriter
                      .create<LinalgOp>(named ? loc : inner, init.getType(), ValueRange{input, window}, init,
                                        rewriter.getI64TensorAttr(strides), rewriter.getI64TensorAttr(dilations))
                      .getResult(0);
    if constexpr (isMax)
      value = convertTensor(rewriter, loc, value, storage);
    else
      value = divide(op, *image, value, inputShape, kernel, strides, dilations, low, rewriter);
    rewriter.replaceOp(op, reshape(rewriter, inner, value, resultType.getShape()));
    return success();
  }

private:
  // Divides the sums by the number of elements in each window.
  static Value divide(top::AvgPoolOp op, const ImageWindow &image, Value sum, ArrayRef<int64_t> input,
                      ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                      ArrayRef<int64_t> low, OpBuilder &builder) {
    Location loc = op.getLoc();
    auto sumType = cast<RankedTensorType>(sum.getType());
    auto type = RankedTensorType::get(sumType.getShape(), cast<RankedTensorType>(op.getType()).getElementType());
    Type f32 = builder.getF32Type();
    int64_t spatial = op.getPads().size() / 2;
    SmallVector<double> counts;
    std::array<SmallVector<int64_t>, 2> perDim;
    for (int dim = 0; dim < 2; ++dim) {
      int64_t begin = 0, end = input[dim + 1];
      // The op's own pads count with count_include_pad; padding added by ceil_mode never does.
      if (auto own = image.ownDim(dim); op.getCountIncludePad() && own) {
        begin -= op.getPads()[*own];
        end += op.getPads()[*own + spatial];
      }
      for (int64_t o = 0; o < sumType.getDimSize(dim + 1); ++o)
        perDim[dim].push_back(elementsInside(o * strides[dim] - low[dim], kernel[dim], dilations[dim], begin, end));
    }
    for (int64_t y : perDim[0])
      for (int64_t x : perDim[1])
        counts.push_back(static_cast<double>(std::max<int64_t>(y * x, 1)));
    auto quotient = [](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
      return b.create<arith::DivFOp>(bodyLoc, args[0], args[1]);
    };
    if (llvm::all_equal(counts))
      return elementwiseMapped(builder, loc, type, sum, builder.getMultiDimIdentityMap(4), f32,
                               [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
                                 return quotient(b, bodyLoc, {args[0], scalar(b, bodyLoc, f32, counts.front())});
                               });
    auto countsType = RankedTensorType::get(sumType.getShape().slice(1, 2), f32);
    Value table =
        top::createConstant(builder, innerLoc(loc), "window_counts", countsType, top::fromDoubles(f32, counts));
    AffineMap whole = builder.getMultiDimIdentityMap(4);
    return elementwiseMapped(builder, loc, type, {sum, table}, {whole, whole.getSubMap({1, 2})}, f32, quotient);
  }
};

} // namespace

void populatePool(RewritePatternSet &patterns) {
  patterns.add<PoolLowering<top::MaxPoolOp>, PoolLowering<top::AvgPoolOp>>(patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
