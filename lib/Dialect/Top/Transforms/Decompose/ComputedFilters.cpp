// A convolution whose filter is computed: the product of the filter and the patches, for each image and group. (The
// cube road packs filters at compile time.)
#include "Decompose.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

using namespace mlir;

namespace pto_mlir::top::decompose {

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  bool moves = isa_and_nonnull<ReshapeOp, SliceOp, PadOp, PermuteOp, ConcatOp, ExpandOp>(op);
  return op && (getConstant(value) || (moves && llvm::all_of(op->getOperands(), isConstant)));
}

namespace {

struct ComputedFilter : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != "NCHW" || isConstant(op.getFilter()))
      return rewriter.notifyMatchFailure(op, "the filter is constant");
    Chain chain(rewriter);
    Window w(op.getKernel(), op.getStrides(), op.getDilations(), op.getPads());
    Value input = op.getInput(), filter = op.getFilter();
    SmallVector<int64_t> out(shapeOf(op.getOutput()));
    int64_t group = op.getGroup();
    for (size_t i = 0; i < w.rank(); ++i) {
      input = chain.pad(input, 2 + i, w.begins[i], w.ends[i]);
      SmallVector<int64_t> starts;
      for (int64_t tap = 0; tap < w.kernel[i]; ++tap)
        starts.push_back(tap * w.dilations[i]);
      input = stackTaps(chain, input, i, starts, w.strides[i], out[2 + i], group);
      filter = foldTaps(chain, filter, i);
    }
    int64_t terms = shapeOf(filter)[1], features = out[1] / group;
    int64_t pixels = ShapedType::getNumElements(ArrayRef<int64_t>(out).drop_front(2));
    Value left = chain.reshape(filter, {1, group, features, terms});
    Value right = chain.reshape(input, {out[0], group, terms, pixels});
    Value product = rewriter.create<MatMulOp>(chain.loc, left, right, Value(), false, false, TypeAttr());
    if (op.getBias())
      product = rewriter.create<AddOp>(chain.loc, product, chain.reshape(op.getBias(), {1, group, features, 1}));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, product, out);
    return success();
  }
};

} // namespace

void populateComputedFilters(RewritePatternSet &patterns) { patterns.add<ComputedFilter>(patterns.getContext()); }

} // namespace pto_mlir::top::decompose
