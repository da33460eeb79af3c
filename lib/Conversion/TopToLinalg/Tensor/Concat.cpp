//===- Concat.cpp - concatenation -----------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct ConcatLowering : OpRewritePattern<top::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ConcatOp op, PatternRewriter &rewriter) const override {
    // A kernel has less than 256 arguments, and an engine has registers for the offsets of about 48 operands.
    constexpr size_t kMost = 32;
    SmallVector<Value> pieces(op.getInputs());
    while (pieces.size() > kMost) {
      SmallVector<Value> longer;
      for (size_t i = 0; i < pieces.size(); i += kMost) {
        ArrayRef<Value> some = ArrayRef(pieces).slice(i, std::min(kMost, pieces.size() - i));
        longer.push_back(
            some.size() == 1
                ? some.front()
                : rewriter.create<tensor::ConcatOp>(innerLoc(op.getLoc()), op.getAxis(), some).getResult());
      }
      pieces = std::move(longer);
    }
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, cast<RankedTensorType>(op.getType()), op.getAxis(), pieces);
    return success();
  }
};
} // namespace

void populateConcat(RewritePatternSet &patterns) { patterns.add<ConcatLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
