//===- PushPermutes.cpp - Sinking and cancelling of permutes --------------===//

#include "Phases.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::layout {
namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// Recreates `op` on channels-last operands and replaces it by the result permuted back.
void replaceChannelsLast(
    PatternRewriter &rewriter, Order order, Operation *op, ValueRange operands,
    llvm::function_ref<void(Operation *)> remap = [](Operation *) {}) {
  auto type = typeOf(op->getResult(0));
  int64_t rank = type.getRank();
  Operation *last = rewriter.clone(*op);
  rewriter.modifyOpInPlace(last, [&] {
    last->setOperands(operands);
    last->getResult(0).setType(
        RankedTensorType::get(applyPermutation(type.getShape(), order.toChannelsLast(rank)), type.getElementType()));
    last->setLoc(channelsLastLoc(op->getLoc()));
    remap(last);
  });
  rewriter.replaceOp(op, ownPermute(rewriter, op->getLoc(), last->getResult(0), order));
}

// A per-dimension list, reordered for channels-last.
SmallVector<int64_t> remapped(ArrayRef<int64_t> values, Order order) {
  return applyPermutation(values, order.toChannelsLast(values.size()));
}

bool isUnary(Operation *op) {
  return isa<ReluOp, AbsOp, NegOp, SigmoidOp, TanhOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, ErfOp, HardSwishOp, RoundOp,
             FloorOp, CeilOp, SignOp, SinOp, CosOp, TanOp, AsinOp, AcosOp, AtanOp, AsinhOp, AcoshOp, AtanhOp,
             LeakyReluOp, HardSigmoidOp, ClipOp, CastOp, QuantizeOp, DequantizeOp>(op);
}

bool isBinary(Operation *op) { return isa<AddOp, SubOp, MulOp, DivOp, PowOp, MaxOp, MinOp>(op); }

struct PushUnary : RewritePattern {
  PushUnary(MLIRContext *context, Order order) : RewritePattern(MatchAnyOpTypeTag(), 1, context), order(order) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isUnary(op))
      return rewriter.notifyMatchFailure(op, "is not elementwise with one operand");
    Value input = underOwnPermute(op->getOperand(0), order);
    if (!input)
      return rewriter.notifyMatchFailure(op, "operand is not permuted");
    auto type = quantisedElement(op->getResult(0).getType());
    if (type && quantParameters(type).axis)
      return rewriter.notifyMatchFailure(op, "has a scale per index of a dimension");
    replaceChannelsLast(rewriter, order, op, input);
    return success();
  }

private:
  Order order;
};

struct PushBinary : RewritePattern {
  PushBinary(MLIRContext *context, Order order) : RewritePattern(MatchAnyOpTypeTag(), 1, context), order(order) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isBinary(op))
      return rewriter.notifyMatchFailure(op, "is not elementwise with two operands");
    auto type = typeOf(op->getResult(0));
    int64_t rank = type.getRank();
    bool anyFull = false;
    for (Value operand : op->getOperands()) {
      bool full = typeOf(operand).getShape() == type.getShape();
      bool own = underOwnPermute(operand, order) != nullptr && typeOf(operand).getRank() == rank;
      anyFull |= full && own;
      if (full && !own && !getConstant(operand))
        return rewriter.notifyMatchFailure(op, "as many permutes would come as go");
    }
    if (!anyFull)
      return rewriter.notifyMatchFailure(op, "no full operand is permuted");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(channelsLast(rewriter, operand, rank));
    replaceChannelsLast(rewriter, order, op, operands);
    return success();
  }

private:
  // `operand` of at most `rank` dimensions, reordered so that it broadcasts channels-last.
  Value channelsLast(PatternRewriter &rewriter, Value operand, int64_t rank) const {
    auto type = typeOf(operand);
    // Also of one element: a permute that stays would be pushed again and again.
    if (type.getRank() == rank)
      if (Value input = underOwnPermute(operand, order))
        return input;
    if (type.getNumElements() == 1 && type.getRank() <= rank &&
        llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; }))
      return operand;
    Location unnamed = UnknownLoc::get(rewriter.getContext());
    if (type.getRank() < rank) {
      SmallVector<int64_t> shape(rank - type.getRank(), 1);
      llvm::append_range(shape, type.getShape());
      if (std::optional<Weight> weight = getConstant(operand)) {
        auto named = operand.getDefiningOp<WeightOp>();
        weight->type = RankedTensorType::get(shape, type.getElementType());
        operand = createConstant(rewriter, operand.getLoc(), named ? named.getName() : "constant", *weight);
      } else {
        operand = rewriter.create<ReshapeOp>(unnamed, operand, shape);
      }
    }
    return permuted(rewriter, unnamed, operand, order.toChannelsLast(rank));
  }

  Order order;
};

/// A pattern that knows the order of feature maps.
template <typename OpTy> struct Push : OpRewritePattern<OpTy> {
  Push(MLIRContext *context, Order order) : OpRewritePattern<OpTy>(context), order(order) {}
  Order order;
};

struct PushConcat : Push<ConcatOp> {
  using Push::Push;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    bool any = false;
    int64_t rank = typeOf(op.getOutput()).getRank();
    for (Value input : op.getInputs()) {
      Value under = underOwnPermute(input, order);
      any |= under != nullptr;
      if (!under && !getConstant(input))
        return rewriter.notifyMatchFailure(op, "an input is not permuted");
      inputs.push_back(under);
    }
    if (!any)
      return rewriter.notifyMatchFailure(op, "no input is permuted");
    for (auto [input, under] : llvm::zip(op.getInputs(), inputs))
      if (!under)
        under = permuted(rewriter, input.getLoc(), input, order.toChannelsLast(rank));
    int64_t axis = order.toChannelsFirst(rank)[op.getAxis()];
    replaceChannelsLast(rewriter, order, op, inputs, [&](Operation *last) { cast<ConcatOp>(last).setAxis(axis); });
    return success();
  }
};

// Remaps attributes that name dimensions from `op` to `last`, the same op on a channels-last operand.
void remap(SoftmaxOp op, SoftmaxOp last, Order order) {
  last.setAxis(order.toChannelsFirst(typeOf(op.getInput()).getRank())[op.getAxis()]);
}

void remap(SliceOp op, SliceOp last, Order order) {
  last.setStarts(remapped(op.getStarts(), order));
  last.setEnds(remapped(op.getEnds(), order));
  last.setSteps(remapped(op.getSteps(), order));
}

void remap(ResizeOp op, ResizeOp last, Order order) {
  SmallVector<int64_t> perm = order.toChannelsLast(op.getSizes().size());
  last.setSizes(remapped(op.getSizes(), order));
  last.setScales(applyPermutation(op.getScales(), perm));
  if (std::optional<ArrayRef<double>> roi = op.getRoi()) {
    SmallVector<double> ends = applyPermutation(roi->drop_front(perm.size()), perm),
                        all = applyPermutation(roi->take_front(perm.size()), perm);
    llvm::append_range(all, ends);
    last.setRoi(all);
  }
}

void remap(PadOp op, PadOp last, Order order) {
  size_t rank = op.getPads().size() / 2;
  SmallVector<int64_t> pads = remapped(op.getPads().take_front(rank), order);
  llvm::append_range(pads, remapped(op.getPads().drop_front(rank), order));
  last.setPads(pads);
}

template <typename OpTy> struct PushRemapped : Push<OpTy> {
  using Push<OpTy>::Push, Push<OpTy>::order;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Value input = underOwnPermute(op.getInput(), order);
    if (!input)
      return rewriter.notifyMatchFailure(op, "operand is not permuted");
    replaceChannelsLast(rewriter, order, op, input, [&](Operation *last) { remap(op, cast<OpTy>(last), order); });
    return success();
  }
};

template <typename ReduceOp> struct PushReduce : Push<ReduceOp> {
  using Push<ReduceOp>::Push, Push<ReduceOp>::order;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Value input = underOwnPermute(op.getInput(), order);
    if (!input)
      return rewriter.notifyMatchFailure(op, "operand is not permuted");
    int64_t rank = typeOf(input).getRank();
    SmallVector<int64_t> first = order.toChannelsFirst(rank), axes;
    for (int64_t axis : op.getAxes())
      axes.push_back(first[axis]);
    llvm::sort(axes);
    if (op.getKeepdims()) {
      replaceChannelsLast(rewriter, order, op, input, [&](Operation *last) { cast<ReduceOp>(last).setAxes(axes); });
      return success();
    }
    // The kept dimensions: in the order of the result, and in memory order.
    SmallVector<int64_t> wanted, given;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (!llvm::is_contained(op.getAxes(), dim))
        wanted.push_back(first[dim]);
      if (!llvm::is_contained(axes, dim))
        given.push_back(dim);
    }
    SmallVector<int64_t> perm =
        llvm::map_to_vector(wanted, [&](int64_t dim) -> int64_t { return llvm::find(given, dim) - given.begin(); });
    bool ordered = llvm::is_sorted(perm);
    Location unnamed = UnknownLoc::get(op.getContext());
    auto reduced = rewriter.create<ReduceOp>(ordered ? op.getLoc() : unnamed, input, axes, /*keepdims=*/false);
    rewriter.replaceOp(op, ordered ? reduced.getOutput() : permuted(rewriter, op.getLoc(), reduced.getOutput(), perm));
    return success();
  }
};

// Whether a reshape is of the spatial dimensions alone (patches to a sequence, windows of an image): [N, C, spatial..]
// becomes [N, spatial.., C] on either side.
bool keepsChannels(ReshapeOp op, Order order) {
  ArrayRef<int64_t> from = typeOf(op.getInput()).getShape(), to = typeOf(op.getOutput()).getShape();
  if (std::min(from.size(), to.size()) < 3 || to[0] != from[0] || to[1] != from[1])
    return false;
  if (!order.columnsOuter)
    return true;
  // Rows stand first in what the model makes of them.
  ArrayRef<int64_t> image = from.size() == 3 ? to : from;
  return std::min(from.size(), to.size()) == 3 && from.size() != to.size() &&
         (image.size() != 4 || image[2] == 1 || image[3] == 1);
}

// Sinks through a reshape of the spatial dimensions alone.
struct PushSpatialReshape : Push<ReshapeOp> {
  using Push::Push;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Value input = underOwnPermute(op.getInput(), order);
    if (!input)
      return rewriter.notifyMatchFailure(op, "operand is not permuted");
    if (!keepsChannels(op, order))
      return rewriter.notifyMatchFailure(op, "is not of the spatial dimensions alone");
    ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
    auto shape = applyPermutation(to, order.toChannelsLast(to.size()));
    auto last = rewriter.create<ReshapeOp>(channelsLastLoc(op.getLoc()), input, shape);
    rewriter.replaceOp(op, ownPermute(rewriter, op.getLoc(), last, order));
    return success();
  }
};

// Merges permute(permute(x)) into one permute, or x.
struct Compose : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<PermuteOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no permute");
    SmallVector<int64_t> perm = applyPermutation(inner.getPerm(), op.getPerm());
    Value source = inner.getInput();
    // Names without a tensor after the rewrite.
    SmallVector<StringRef, 2> lost;
    if (inner->hasOneUse() && getTensorName(inner.getLoc()) != getTensorName(source))
      lost.push_back(getTensorName(inner.getLoc()));
    if (llvm::is_sorted(perm)) {
      if (getTensorName(op.getLoc()) != getTensorName(source))
        lost.push_back(getTensorName(op.getLoc()));
      rewriter.replaceOp(op, source);
    } else {
      rewriter.replaceOpWithNewOp<PermuteOp>(op, source, perm);
    }
    if (!lost.empty())
      addAbsorbed(inner->getParentOfType<ModuleOp>(), lost);
    return success();
  }
};

} // namespace

bool sinksThrough(Operation *op, Order order) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  return isUnary(op) || isBinary(op) || isa<ConcatOp>(op) || (reshape && keepsChannels(reshape, order));
}

void populatePushPermutes(RewritePatternSet &patterns, Order order) {
  patterns.add<Compose>(patterns.getContext());
  patterns.add<PushUnary, PushBinary, PushConcat, PushSpatialReshape, PushRemapped<SoftmaxOp>, PushRemapped<SliceOp>,
               PushRemapped<ResizeOp>, PushRemapped<PadOp>, PushReduce<ReduceSumOp>, PushReduce<ReduceMeanOp>,
               PushReduce<ReduceMaxOp>, PushReduce<ReduceMinOp>>(patterns.getContext(), order);
}

} // namespace pto_mlir::top::layout
