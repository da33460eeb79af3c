//===- Concat.cpp - concatenation -----------------------------------------===//

#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {
struct ConcatLowering : OpRewritePattern<top::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ConcatOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<tensor::ConcatOp>(op, cast<RankedTensorType>(op.getType()), op.getAxis(), op.getInputs());
    return success();
  }
};
} // namespace

void populateConcat(RewritePatternSet &patterns) { patterns.add<ConcatLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
