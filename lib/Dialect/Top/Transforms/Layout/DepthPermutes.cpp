//===- DepthPermutes.cpp - Permutes around a dimension in the batch -------===//
//
// Of more than two spatial dimensions, top-decompose puts the first one, D, into the batch: [N, C, D, S..] becomes
// [N, D, C, S..], then [N * D, C, S..], and back behind the convolution. Channels-last, both ways are reshapes.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::layout {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// [N, C, D, S..] -> [N, D, C, S..], its own inverse.
SmallVector<int64_t> depthFirst(int64_t rank) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(perm[1], perm[2]);
  return perm;
}

// Whether `many` is `merged` with its first dimension in two.
bool splitsBatch(ArrayRef<int64_t> merged, ArrayRef<int64_t> many) {
  return many.size() == merged.size() + 1 && many.drop_front(2) == merged.drop_front() &&
         many[0] * many[1] == merged[0];
}

// Sinks a permute through the way from the batch.
struct PushFromBatch : OpRewritePattern<PermuteOp> {
  PushFromBatch(MLIRContext *context, Order order) : OpRewritePattern(context), order(order) {}
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    int64_t rank = op.getPerm().size();
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    if (rank < 4 || op->hasAttr(kOwnAttr) || op.getPerm() != ArrayRef(depthFirst(rank)) || !reshape ||
        !splitsBatch(shapeOf(reshape.getInput()), shapeOf(reshape)))
      return rewriter.notifyMatchFailure(op, "takes no dimension from the batch");
    Value input = underOwnPermute(reshape.getInput(), order);
    if (!input)
      return rewriter.notifyMatchFailure(op, "operand is not permuted");
    SmallVector<int64_t> shape = applyPermutation(shapeOf(op), order.toChannelsLast(rank));
    auto last = rewriter.create<ReshapeOp>(channelsLastLoc(op.getLoc()), input, shape);
    rewriter.replaceOp(op, ownPermute(rewriter, op.getLoc(), last, order));
    return success();
  }

private:
  Order order;
};

// Cancels a permute to channels-last behind the way into the batch of channels-last values.
struct CancelIntoBatch : OpRewritePattern<PermuteOp> {
  CancelIntoBatch(MLIRContext *context, Order order) : OpRewritePattern(context), order(order) {}
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    int64_t rank = op.getPerm().size();
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    auto inner = reshape ? reshape.getInput().getDefiningOp<PermuteOp>() : PermuteOp();
    if (rank < 3 || !inner || !splitsBatch(shapeOf(reshape), shapeOf(inner)) ||
        op.getPerm() != ArrayRef(order.toChannelsLast(rank)))
      return rewriter.notifyMatchFailure(op, "puts no dimension into the batch");
    // As Compose leaves it: from [N, D, S.., C] to [N, D, C, S..].
    if (inner.getPerm() != ArrayRef(applyPermutation(order.toChannelsFirst(rank + 1), depthFirst(rank + 1))))
      return rewriter.notifyMatchFailure(op, "operand is not permuted");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, inner.getInput(), shapeOf(op));
    return success();
  }

private:
  Order order;
};

} // namespace

void populateDepthPermutes(RewritePatternSet &patterns, Order order) {
  // Images whose columns stand first have another order than what has three spatial dimensions.
  if (!order.columnsOuter)
    patterns.add<PushFromBatch, CancelIntoBatch>(patterns.getContext(), order);
}

} // namespace pto_mlir::top::layout
