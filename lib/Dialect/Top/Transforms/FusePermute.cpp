// Folds a permute of a product's right operand that moves the last dimension (the keys of an attention) into
// transpose_b.
#include "Fuse.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top {
namespace {

struct FusePermute : public AbsorbingPattern<MatMulOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(MatMulOp op, PatternRewriter &rewriter) const override {
    auto permute = op.getRhs().getDefiningOp<PermuteOp>();
    if (!permute || !permute->hasOneUse())
      return rewriter.notifyMatchFailure(op, "the right operand is no permute of its own");
    SmallVector<int64_t> perm(permute.getPerm());
    size_t rank = perm.size();
    std::swap(perm[rank - 1], perm[rank - 2]);
    // The remaining permute must keep rows contiguous; otherwise nothing is gained.
    if (perm[rank - 1] != static_cast<int64_t>(rank) - 1)
      return rewriter.notifyMatchFailure(op, "the permute moves the last dimension elsewhere");
    Value rhs = permute.getInput();
    if (!isIdentityPermutation(perm))
      rhs = rewriter.create<PermuteOp>(rewriter.getUnknownLoc(), rhs, perm);
    absorbed.add(permute.getLoc());
    rewriter.modifyOpInPlace(op, [&] {
      op.getRhsMutable().assign(rhs);
      op.setTransposeB(!op.getTransposeB());
    });
    return success();
  }
};

} // namespace

void populateFusePermute(RewritePatternSet &patterns, Absorbed &absorbed) {
  patterns.add<FusePermute>(patterns.getContext(), absorbed);
}

} // namespace pto_mlir::top
