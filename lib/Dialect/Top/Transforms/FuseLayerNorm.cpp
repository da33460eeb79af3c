// Forms layer_norm from (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), with or without subtracting the mean,
// and folds a following scale and bias into its parameters.
#include "Fuse.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

using namespace mlir;

namespace pto_mlir::top {
namespace {

// The first reduced dimension if the reduced dimensions are the last ones; nullopt otherwise.
std::optional<int64_t> lastDimensions(ReduceMeanOp mean) {
  int64_t rank = mean.getInput().getType().getRank();
  ArrayRef<int64_t> axes = mean.getAxes();
  if (axes.empty() || !mean.getKeepdims() || axes.back() != rank - 1 ||
      axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size()))
    return std::nullopt;
  return axes.front();
}

// The parts of the matched quotient. `chain` lists the ops that are replaced.
struct Spelled {
  Value input;
  int64_t axis;
  double epsilon;
  bool centered = true;
  SmallVector<Operation *> chain;
};

// Matches x - mean(x).
bool matchDifference(Value value, Spelled &spelled) {
  auto sub = value.getDefiningOp<SubOp>();
  auto mean = sub ? sub.getRhs().getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
  if (!mean || mean.getInput() != sub.getLhs() || !lastDimensions(mean))
    return false;
  spelled.input = sub.getLhs();
  spelled.axis = *lastDimensions(mean);
  spelled.chain.append({sub, mean});
  return true;
}

// The operand of a square, or null.
Value squared(Operation *op) {
  if (auto pow = dyn_cast_or_null<PowOp>(op))
    return getSplat(pow.getRhs()) == 2.0 ? pow.getLhs() : Value();
  if (auto mul = dyn_cast_or_null<MulOp>(op))
    return mul.getLhs() == mul.getRhs() ? mul.getLhs() : Value();
  return nullptr;
}

// Matches sqrt(mean(square) + epsilon), the square being that of `centred` (x - mean(x), or x itself).
bool matchDeviation(Value value, Value centred, Spelled &spelled) {
  auto sqrt = value.getDefiningOp<SqrtOp>();
  auto add = sqrt ? sqrt.getInput().getDefiningOp<AddOp>() : AddOp();
  if (!add)
    return false;
  Value sum = add.getLhs();
  std::optional<double> epsilon = getSplat(add.getRhs());
  if (!epsilon) {
    sum = add.getRhs();
    epsilon = getSplat(add.getLhs());
  }
  auto mean = sum.getDefiningOp<ReduceMeanOp>();
  Operation *square = mean ? mean.getInput().getDefiningOp() : nullptr;
  Value base = squared(square);
  if (!epsilon || !base || !lastDimensions(mean))
    return false;
  Spelled second;
  if (matchDifference(centred, spelled)) {
    bool same = base == centred ||
                (matchDifference(base, second) && second.input == spelled.input && second.axis == spelled.axis);
    if (!same || lastDimensions(mean) != spelled.axis)
      return false;
  } else {
    spelled.input = centred;
    spelled.axis = *lastDimensions(mean);
    spelled.centered = false;
    if (base != centred)
      return false;
  }
  spelled.epsilon = *epsilon;
  spelled.chain.append({sqrt, add, mean, square});
  spelled.chain.append(second.chain);
  return true;
}

// Replaces `op`, the quotient of `centred` and `deviation`, by layer_norm.
LogicalResult fuse(Operation *op, Value centred, Value deviation, ArrayRef<Operation *> between,
                   PatternRewriter &rewriter, Absorbed &absorbed) {
  Spelled spelled;
  auto type = cast<RankedTensorType>(op->getResultTypes()[0]);
  if (!isa<FloatType>(type.getElementType()) || !matchDeviation(deviation, centred, spelled) ||
      spelled.input.getType() != type)
    return rewriter.notifyMatchFailure(op, "is no normalisation");
  spelled.chain.append(between.begin(), between.end());
  for (Operation *part : spelled.chain)
    if (llvm::all_of(part->getUsers(),
                     [&](Operation *user) { return user == op || llvm::is_contained(spelled.chain, user); }))
      absorbed.add(part->getLoc());
  rewriter.replaceOpWithNewOp<LayerNormOp>(op, type, spelled.input, ValueRange(), spelled.axis,
                                           APFloat(spelled.epsilon), spelled.centered);
  return success();
}

struct FuseQuotient : public AbsorbingPattern<DivOp> {
  using AbsorbingPattern::AbsorbingPattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    return fuse(op, op.getLhs(), op.getRhs(), {}, rewriter, absorbed);
  }
};

struct FuseReciprocal : public AbsorbingPattern<MulOp> {
  using AbsorbingPattern::AbsorbingPattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [value, other] :
         {std::pair<Value, Value>(op.getLhs(), op.getRhs()), std::pair<Value, Value>(op.getRhs(), op.getLhs())})
      if (auto inverse = other.getDefiningOp<ReciprocalOp>())
        return fuse(op, value, inverse.getInput(), inverse.getOperation(), rewriter, absorbed);
    return rewriter.notifyMatchFailure(op, "multiplies with no reciprocal");
  }
};

// Folds layer_norm(x) * scale and layer_norm(x, scale) + bias.
template <typename OpTy> struct FuseParameter : public AbsorbingPattern<OpTy> {
  using AbsorbingPattern<OpTy>::AbsorbingPattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    constexpr size_t kBefore = std::is_same_v<OpTy, MulOp> ? 0 : 1;
    for (auto [value, other] :
         {std::pair<Value, Value>(op.getLhs(), op.getRhs()), std::pair<Value, Value>(op.getRhs(), op.getLhs())}) {
      auto norm = value.template getDefiningOp<LayerNormOp>();
      if (!norm || !norm->hasOneUse() || norm.getParams().size() != kBefore || value.getType() != op.getType())
        continue;
      ArrayRef<int64_t> wanted = cast<RankedTensorType>(op.getType()).getShape().drop_front(norm.getAxis());
      ArrayRef<int64_t> shape = cast<RankedTensorType>(other.getType()).getShape();
      bool unitsInFront = shape.size() >= wanted.size() && shape.take_back(wanted.size()) == wanted &&
                          llvm::all_of(shape.drop_back(wanted.size()), [](int64_t size) { return size == 1; });
      if (!unitsInFront)
        continue;
      if (shape != wanted)
        other = rewriter.create<ReshapeOp>(rewriter.getUnknownLoc(), other, wanted);
      SmallVector<Value> params(norm.getParams());
      params.push_back(other);
      this->absorbed.add(norm.getLoc());
      rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), norm.getInput(), params, norm.getAxis(),
                                               norm.getEpsilon(), norm.getCentered());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "is no parameter of a normalisation");
  }
};

} // namespace

void populateFuseLayerNorm(RewritePatternSet &patterns, Absorbed &absorbed) {
  patterns.add<FuseQuotient, FuseReciprocal, FuseParameter<MulOp>, FuseParameter<AddOp>>(patterns.getContext(),
                                                                                         absorbed);
}

} // namespace pto_mlir::top
