// top-fold: constant folding and identities.
#include "Absorbed.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Evaluate.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include <cmath>

#define DEBUG_TYPE "top-fold"
#include "LogReplaced.h"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPFOLD
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

// A net must not return its own argument: every output is computed by an op.
bool returnsArgument(Operation *op, Value replacement) {
  return isa<BlockArgument>(replacement) &&
         llvm::any_of(op->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

// Folds any op with constant operands.
struct FoldConstant : public RewritePattern {
  FoldConstant(MLIRContext *context, Absorbed &absorbed)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context), absorbed(absorbed) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || op->getNumOperands() == 0 || !isa_and_nonnull<TopDialect>(op->getDialect()))
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    auto isStatic = [](Type operand) { return cast<RankedTensorType>(operand).hasStaticShape(); };
    if (!type || op->getNumRegions() || !llvm::all_of(op->getOperandTypes(), isStatic))
      return failure();
    // Do not fold a broadcast that would enlarge the weights.
    int64_t elements = 1 << 16;
    int64_t growth = isa<PadOp>(op) ? 4 : 1;
    for (Type operand : op->getOperandTypes())
      elements += growth * cast<RankedTensorType>(operand).getNumElements();
    if (type.getNumElements() > elements)
      return rewriter.notifyMatchFailure(op, "the result is much larger than its operands");
    std::optional<Weight> weight = evaluate(op);
    if (!weight)
      return rewriter.notifyMatchFailure(op, "an operand is not constant, or the op is not evaluated");
    absorbed.add(op->getLoc());
    std::string name = getTensorName(op->getLoc()).str();
    rewriter.replaceOp(op, createConstant(rewriter, op->getLoc(), name.empty() ? "folded" : name, *weight));
    return success();
  }
  Absorbed &absorbed;
};

// x + 0, x - 0, x * 1, x / 1, x ^ 1; commuted as well where the op commutes.
template <typename OpTy> struct DropIdentity : public AbsorbingPattern<OpTy> {
  DropIdentity(MLIRContext *context, Absorbed &absorbed, double neutral)
      : AbsorbingPattern<OpTy>(context, absorbed), neutral(neutral) {}

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    bool commutes = op->template hasTrait<OpTrait::IsCommutative>();
    for (auto [value, other] :
         {std::pair<Value, Value>(op.getLhs(), op.getRhs()), std::pair<Value, Value>(op.getRhs(), op.getLhs())}) {
      if (value.getType() == op.getType() && (commutes || value == op.getLhs()) && getSplat(other) == neutral &&
          !returnsArgument(op, value)) {
        this->absorbed.add(op.getLoc());
        rewriter.replaceOp(op, value);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no neutral operand");
  }
  double neutral;
};

// x / 2^n -> x * 2^-n, exact while 2^-n is a normal number.
struct DivToMul : public OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    auto float_ = dyn_cast<FloatType>(op.getType().getElementType());
    std::optional<Weight> divisor = float_ ? getConstant(op.getRhs()) : std::nullopt;
    if (!divisor)
      return rewriter.notifyMatchFailure(op, "the divisor is no float constant");
    std::vector<double> values = toDoubles(*divisor);
    // Within half of the exponent range both the number and its reciprocal are normal.
    int limit = llvm::APFloat::semanticsMaxExponent(float_.getFloatSemantics()) - 1;
    for (double &value : values) {
      int exponent;
      if (!std::isfinite(value) || std::fabs(std::frexp(value, &exponent)) != 0.5 || std::abs(exponent - 1) > limit)
        return rewriter.notifyMatchFailure(op, "a divisor is no power of two");
      value = 1 / value;
    }
    Value factor = createConstant(rewriter, op.getRhs().getLoc(), (getTensorName(op.getRhs()) + "_reciprocal").str(),
                                  divisor->type, fromDoubles(float_, values));
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), factor);
    return success();
  }
};

// Merges two consecutive ops of one kind into one, or none where the merged op is the identity. `source` is the input
// of the inner op, or of `op` if there is no inner op; `create` builds the merged op.
template <typename OpTy>
LogicalResult mergeWithInner(OpTy op, OpTy inner, bool isIdentity, Absorbed &absorbed, PatternRewriter &rewriter,
                             llvm::function_ref<void(Value source)> create) {
  Value source = inner ? inner.getInput() : op.getInput();
  bool drop = isIdentity && !returnsArgument(op, source);
  if (!drop && !inner)
    return rewriter.notifyMatchFailure(op, "the input is no op of this kind");
  if (inner && inner->hasOneUse())
    absorbed.add(inner.getLoc());
  if (!drop) {
    create(source);
    return success();
  }
  absorbed.add(op.getLoc());
  rewriter.replaceOp(op, source);
  return success();
}

struct MergeReshape : public AbsorbingPattern<ReshapeOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    bool isIdentity = (inner ? inner : op).getInput().getType() == op.getType();
    return mergeWithInner(op, inner, isIdentity, absorbed, rewriter, [&](Value source) {
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, source, op.getType().getShape());
    });
  }
};

struct MergePermute : public AbsorbingPattern<PermuteOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<PermuteOp>();
    SmallVector<int64_t> perm =
        inner ? applyPermutation(inner.getPerm(), op.getPerm()) : SmallVector<int64_t>(op.getPerm());
    return mergeWithInner(op, inner, isIdentityPermutation(perm), absorbed, rewriter,
                          [&](Value source) { rewriter.replaceOpWithNewOp<PermuteOp>(op, source, perm); });
  }
};

// A slice that takes everything.
struct DropWholeSlice : public AbsorbingPattern<SliceOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    if (!takesAll(op) || returnsArgument(op, op.getInput()))
      return rewriter.notifyMatchFailure(op, "takes a part, or is an output");
    absorbed.add(op.getLoc());
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

// Whether type `to` represents every value of type `from`.
bool holds(Type to, Type from) {
  if (to == from)
    return true;
  auto toFloat = dyn_cast<FloatType>(to), fromFloat = dyn_cast<FloatType>(from);
  if (toFloat && fromFloat) {
    const llvm::fltSemantics &wide = toFloat.getFloatSemantics(), &narrow = fromFloat.getFloatSemantics();
    return toFloat.getWidth() > fromFloat.getWidth() &&
           llvm::APFloat::semanticsPrecision(wide) >= llvm::APFloat::semanticsPrecision(narrow) &&
           llvm::APFloat::semanticsMaxExponent(wide) >= llvm::APFloat::semanticsMaxExponent(narrow) &&
           llvm::APFloat::semanticsMinExponent(wide) <= llvm::APFloat::semanticsMinExponent(narrow);
  }
  auto toInt = dyn_cast<IntegerType>(to), fromInt = dyn_cast<IntegerType>(from);
  // i1 is a boolean: a conversion to it is a test against 0, not a truncation.
  if (!fromInt || fromInt.getWidth() == 1)
    return false;
  if (toInt && toInt.getWidth() > 1)
    return toInt.getWidth() > fromInt.getWidth() && (fromInt.isUnsigned() || !toInt.isUnsigned());
  return toFloat && llvm::APFloat::semanticsPrecision(toFloat.getFloatSemantics()) >= fromInt.getWidth();
}

struct MergeCast : public AbsorbingPattern<CastOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<CastOp>();
    if (inner && !holds(inner.getTo(), inner.getInput().getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "the inner cast loses something");
    bool isIdentity = (inner ? inner : op).getInput().getType() == op.getType();
    return mergeWithInner(op, inner, isIdentity, absorbed, rewriter, [&](Value source) {
      rewriter.replaceOpWithNewOp<CastOp>(op, source, op.getTo(), op.getOverflows(), op.getRoundAttr());
    });
  }
};

// cast(softmax(cast(x to f64))) back to the type of x -> softmax(x), which computes in f32.
struct NarrowSoftmax : public AbsorbingPattern<CastOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto softmax = op.getInput().getDefiningOp<SoftmaxOp>();
    auto inner = softmax ? softmax.getInput().getDefiningOp<CastOp>() : CastOp();
    if (!inner || !softmax->hasOneUse() || !inner.getTo().isF64() || !isa<FloatType>(op.getTo()) ||
        inner.getInput().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "no softmax in f64 between two casts");
    if (inner->hasOneUse())
      absorbed.add(inner.getLoc());
    absorbed.add(softmax.getLoc());
    rewriter.replaceOpWithNewOp<SoftmaxOp>(op, op.getType(), inner.getInput(), softmax.getAxis());
    return success();
  }
};

struct Fold : public impl::TopFoldBase<Fold> {
  using TopFoldBase::TopFoldBase;

  void runOnOperation() override {
    Absorbed absorbed;
    LogReplaced log(DEBUG_TYPE);
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FoldConstant, DropWholeSlice, MergeReshape, MergePermute, MergeCast>(context, absorbed);
    if (!strictF64)
      patterns.add<NarrowSoftmax>(context, absorbed);
    patterns.add<DivToMul>(context);
    patterns.add<DropIdentity<AddOp>, DropIdentity<SubOp>>(context, absorbed, 0.0);
    patterns.add<DropIdentity<MulOp>, DropIdentity<DivOp>, DropIdentity<PowOp>>(context, absorbed, 1.0);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns), log.config())))
      return signalPassFailure();
    absorbed.commit(getOperation());
  }
};

} // namespace
} // namespace pto_mlir::top
