//===- ReshapePermutes.cpp - Permutes of unit dimensions as reshapes ------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::layout {
namespace {

// Moving dimensions of size 1 keeps the order of the elements.
struct UnitPermute : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t last = -1;
    for (int64_t dim : op.getPerm()) {
      if (type.getDimSize(dim) == 1)
        continue;
      if (dim < last)
        return rewriter.notifyMatchFailure(op, "moves elements");
      last = dim;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getInput(), cast<RankedTensorType>(op.getType()).getShape());
    return success();
  }
};

struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Value source = op.getInput();
    if (source.getType() == op.getType()) {
      rewriter.replaceOp(op, source);
      return success();
    }
    auto inner = source.getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, inner.getInput(), cast<RankedTensorType>(op.getType()).getShape());
    return success();
  }
};

// The parts that the dimensions of two shapes of as many elements consist of, without those of one element, and how
// many of them each dimension has; nothing where a dimension of one straddles dimensions of the other.
struct Refinement {
  SmallVector<int64_t> sizes, ofFrom, ofTo;
};

std::optional<Refinement> refine(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Refinement common;
  common.ofFrom.assign(from.size(), 0);
  common.ofTo.assign(to.size(), 0);
  SmallVector<int64_t> left(from), right(to);
  for (size_t i = 0, j = 0;;) {
    while (i < left.size() && left[i] == 1)
      ++i;
    while (j < right.size() && right[j] == 1)
      ++j;
    if (i == left.size() && j == right.size())
      break;
    int64_t size = i == left.size() || j == right.size() ? 0 : std::min(left[i], right[j]);
    if (size <= 0 || left[i] % size != 0 || right[j] % size != 0)
      return std::nullopt;
    common.sizes.push_back(size);
    ++common.ofFrom[i];
    ++common.ofTo[j];
    left[i] /= size;
    right[j] /= size;
  }
  return common.sizes.empty() ? std::nullopt : std::optional(common);
}

// The permutation of the parts, where dimension d has counts[d] of them.
SmallVector<int64_t> permParts(ArrayRef<int64_t> perm, ArrayRef<int64_t> counts) {
  SmallVector<int64_t> first(counts.size(), 0), result;
  for (size_t d = 1; d < counts.size(); ++d)
    first[d] = first[d - 1] + counts[d - 1];
  for (int64_t d : perm)
    for (int64_t part = 0; part < counts[d]; ++part)
      result.push_back(first[d] + part);
  return result;
}

// permute(reshape(permute(x))) -> reshape(permute(reshape(x))), of the dimensions that both permutes move.
struct ComposeAcrossReshape : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    auto inner = reshape ? reshape.getInput().getDefiningOp<PermuteOp>() : PermuteOp();
    if (!inner || !reshape->hasOneUse() || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "operand is no reshaped permute of its own");
    auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
    std::optional<Refinement> common = refine(shapeOf(inner), shapeOf(reshape));
    if (!common)
      return rewriter.notifyMatchFailure(op, "the reshape cuts across dimensions");
    // Parts in the order of x: those of the inner permute's result, back where they come from.
    SmallVector<int64_t> order = invertPermutationVector(inner.getPerm()), parts = permParts(order, common->ofFrom);
    SmallVector<int64_t> perm = applyPermutation(invertPermutationVector(parts), permParts(op.getPerm(), common->ofTo));
    SmallVector<StringRef, 2> lost;
    for (Operation *gone : {inner.getOperation(), reshape.getOperation()})
      if (StringRef name = getTensorName(gone->getLoc()); !name.empty() && name != getTensorName(inner.getInput()))
        lost.push_back(name);
    Location unnamed = rewriter.getUnknownLoc();
    Value split = rewriter.create<ReshapeOp>(unnamed, inner.getInput(), applyPermutation(common->sizes, parts));
    Value moved = rewriter.create<PermuteOp>(unnamed, split, perm);
    ArrayRef<int64_t> shape = shapeOf(op);
    auto module = op->getParentOfType<ModuleOp>();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, moved, shape);
    if (!lost.empty())
      addAbsorbed(module, lost);
    return success();
  }
};

} // namespace

void populateReshapePermutes(RewritePatternSet &patterns) {
  patterns.add<UnitPermute, MergeReshapes, ComposeAcrossReshape>(patterns.getContext());
}

} // namespace pto_mlir::top::layout
