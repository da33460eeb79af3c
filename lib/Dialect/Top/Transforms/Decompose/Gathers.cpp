// Gathers of short rows from many outer indices: with the gathered dimension first, the rows of all outer indices are
// one. Each row is a load and a store of its own, whatever its length.
#include "Decompose.h"

using namespace mlir;

namespace pto_mlir::top::decompose {
namespace {

constexpr int64_t kShort = 16;   ///< elements of a row
constexpr int64_t kFewest = 256; ///< rows: fewer take less than two launches more
/// Elements that a transposition moves in the time that a row's load and store take to begin.
constexpr int64_t kWorth = 16;

struct ShortRows : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto data = cast<RankedTensorType>(op.getData().getType());
    auto axis = static_cast<size_t>(op.getAxis());
    int64_t count = cast<RankedTensorType>(op.getIndices().getType()).getNumElements(), size = data.getDimSize(axis);
    int64_t outer = ShapedType::getNumElements(data.getShape().take_front(axis));
    int64_t inner = ShapedType::getNumElements(data.getShape().drop_front(axis + 1));
    Type element = data.getElementType();
    if (element.isF64() || element.isUnsignedInteger(64))
      return rewriter.notifyMatchFailure(op, "no engine moves the elements");
    if (outer == 1 || inner >= kShort || outer * count < kFewest ||
        outer * count * kWorth <= outer * inner * (size + count))
      return rewriter.notifyMatchFailure(op, "the rows are long, or few");
    Location unnamed = rewriter.getUnknownLoc();
    auto swapped = [&](Value value, ArrayRef<int64_t> shape) -> Value {
      Value grouped = rewriter.create<ReshapeOp>(unnamed, value, shape);
      return rewriter.create<PermuteOp>(unnamed, grouped, ArrayRef<int64_t>{1, 0, 2});
    };
    Value rows = swapped(op.getData(), {outer, size, inner});
    Value flat = rewriter.create<ReshapeOp>(unnamed, op.getIndices(), ArrayRef<int64_t>{count});
    Value gathered = rewriter.create<GatherOp>(unnamed, rows, flat, 0);
    Value result = swapped(gathered, {count, outer, inner});
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, shapeOf(op.getOutput()));
    return success();
  }
};

} // namespace

void populateGathers(RewritePatternSet &patterns) { patterns.add<ShortRows>(patterns.getContext()); }

} // namespace pto_mlir::top::decompose
