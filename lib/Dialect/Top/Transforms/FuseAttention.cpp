// top-fuse-attention: the products and softmax of an attention become one op.
#include "AttentionMatch.h"
#include "MergeProjections.h"
#include "StackQueries.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include <cmath>
#include <limits>

#define DEBUG_TYPE "top-fuse-attention"
#include "Absorbed.h"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPFUSEATTENTION
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

// Whether a permute exchanges heads and rows: of [batch, heads, rows, depth], where the batch may be several
// dimensions, or of one batch without its dimension.
bool exchangesHeads(PermuteOp op, int64_t batch) {
  ArrayRef<int64_t> perm = op.getPerm();
  int64_t rank = perm.size();
  if (rank >= 4 && perm.take_back(3) == ArrayRef<int64_t>{rank - 2, rank - 3, rank - 1})
    return llvm::equal(perm.drop_back(3), llvm::seq<int64_t>(rank - 3));
  return batch == 1 && op.getPerm() == ArrayRef<int64_t>{1, 0, 2};
}

// One of Q, K, V or the result as top.attention takes it.
struct Operand {
  Value value;
  StringRef layout = "BNSD";
};

// Builds the op for a match.
class Fusion {
public:
  Fusion(const AttentionMatch &found, RewriterBase &b) : match(found), b(b), loc(b.getUnknownLoc()) {
    ArrayRef<int64_t> lead = shapeOf(match.scores.getOutput()).drop_back(2);
    heads = lead.empty() ? 1 : lead.back();
    batch = ShapedType::getNumElements(lead) / heads;
    rows = shapeOf(match.scores.getOutput()).take_back(2)[0];
    keys = shapeOf(match.scores.getOutput()).back();
  }

  /// Null, with a reason, if there is no such op.
  AttentionOp build(std::string &reason) {
    Value key = match.key;
    if (!match.keyPermutation.empty())
      key = b.create<PermuteOp>(loc, key, match.keyPermutation);
    ArrayRef<int64_t> lead = shapeOf(match.scores.getOutput()).drop_back(2);
    if (shapeOf(match.query).drop_back(2) != lead || shapeOf(key).drop_back(2) != lead)
      return reason = "batches of queries and keys differ", AttentionOp();
    Value value = match.sums.getRhs();
    if (ShapedType::getNumElements(shapeOf(value).drop_back(2)) != batch * heads)
      return reason = "the batch of values is another", AttentionOp();
    Type element = elementOf(match.query);
    if (elementOf(key) != element || elementOf(value) != element || elementOf(match.sums.getOutput()) != element)
      return reason = "element types differ", AttentionOp();
    int64_t keyTimes = 1, valueTimes = 1;
    Value fewKeys = repeatedHeads(key, keyTimes), fewValues = repeatedHeads(value, valueTimes);
    bool shares = fewKeys && fewValues && keyTimes == valueTimes && lead.size() == 2;
    kvHeads = shares ? heads / keyTimes : heads;
    Operand query = operand(match.query, heads);
    Operand k = operand(shares ? fewKeys : key, kvHeads), v = operand(shares ? fewValues : value, kvHeads);
    std::optional<Value> bias = sumOfBiases();
    if (!bias)
      return reason = "a bias has another shape than the scores, or hides keys by a number that adds up", AttentionOp();
    b.setInsertionPoint(match.sums);
    PermuteOp tail = movedTail();
    auto op = b.create<AttentionOp>(tail ? tail.getLoc() : match.sums.getLoc(), query.value, k.value, v.value, *bias,
                                    Value(), Value(), APFloat(match.scale), heads, kvHeads, causalOffset.has_value(),
                                    causalOffset ? b.getI64IntegerAttr(*causalOffset) : IntegerAttr(),
                                    ArrayRef<int64_t>{-1, -1}, APFloat(match.softcap), query.layout, k.layout, v.layout,
                                    tail ? "BSND" : "BNSD");
    return op;
  }

  /// Replaces what the op computes: the last product, or the permute of heads behind it.
  void replace(AttentionOp op) {
    PermuteOp tail = movedTail();
    Operation *last = tail ? tail.getOperation() : match.sums.getOperation();
    Value value = op.getOutput();
    for (Operation *user : llvm::make_early_inc_range(last->getUsers())) {
      auto merged = dyn_cast<ReshapeOp>(user);
      if (merged && merged.getType() == value.getType()) {
        op->setLoc(merged.getLoc());
        b.replaceOp(merged, value);
      } else if (merged) {
        merged->setOperand(0, value);
      }
    }
    if (last->use_empty())
      return b.eraseOp(last);
    if (value.getType() != last->getResult(0).getType())
      value = b.create<ReshapeOp>(last->getLoc(), value, shapeOf(last->getResult(0)));
    b.replaceOp(last, value);
  }

  /// The permute to [batch, rows, heads, depth] that is the only reader of the result.
  PermuteOp movedTail() {
    Value sums = match.sums.getOutput();
    auto permute = sums.hasOneUse() ? dyn_cast<PermuteOp>(*sums.getUsers().begin()) : PermuteOp();
    return permute && exchangesHeads(permute, batch) ? permute : PermuteOp();
  }

private:
  // [batch, rows, heads * depth] below a permute of heads, else [batch, heads, rows, depth].
  Operand operand(Value value, int64_t count) {
    ArrayRef<int64_t> shape = shapeOf(value);
    int64_t length = shape.take_back(2)[0], depth = shape.back();
    if (auto permute = value.getDefiningOp<PermuteOp>();
        permute && exchangesHeads(permute, batch) && (shape.size() <= 4 || shape.drop_back(2).back() == count) &&
        ShapedType::getNumElements(shapeOf(value).drop_back(2)) == batch * count)
      return {reshaped(permute.getInput(), {batch, length, count * depth}), "BSND"};
    if (Value part = packedPart(value, count))
      return {part, "BSND"};
    return {reshaped(value, {batch, count, length, depth})};
  }

  // One of the parts of [batch, rows, parts, heads, depth] that a permute brings to the front: a slice of columns.
  Value packedPart(Value value, int64_t count) {
    auto reshape = value.getDefiningOp<ReshapeOp>();
    auto slice = reshape ? reshape.getInput().getDefiningOp<SliceOp>() : SliceOp();
    auto permute = slice ? slice.getInput().getDefiningOp<PermuteOp>() : PermuteOp();
    if (!permute || permute.getPerm() != ArrayRef<int64_t>{2, 0, 3, 1, 4})
      return {};
    SmallVector<int64_t> part(shapeOf(permute.getOutput()));
    part[0] = 1;
    ArrayRef<int64_t> packed = shapeOf(permute.getInput());
    if (shapeOf(slice.getOutput()) != ArrayRef(part) || packed[0] != batch || packed[3] != count ||
        shapeOf(value) != ArrayRef(part).drop_front())
      return {};
    int64_t width = packed[3] * packed[4], begin = slice.getStarts()[0] * width;
    Value columns = reshaped(permute.getInput(), {batch, packed[1], packed[2] * width});
    return b.create<SliceOp>(loc, columns, ArrayRef<int64_t>{0, 0, begin},
                             ArrayRef<int64_t>{batch, packed[1], begin + width}, ArrayRef<int64_t>{1, 1, 1});
  }

  Value reshaped(Value value, ArrayRef<int64_t> shape) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return shapeOf(value) == shape ? value : b.create<ReshapeOp>(loc, value, shape).getOutput();
  }

  // The sum of all biases, null if there is none; nullopt on failure. A constant that hides the keys behind each row
  // becomes `causalOffset`.
  std::optional<Value> sumOfBiases() {
    Value sum;
    for (const ScoreBias &bias : match.biases) {
      // In place of a score, a number hides a whole row by equal weights; added to it, too, if no score changes it.
      constexpr double kHuge = -1e30;
      if (isCausal(bias))
        continue;
      if (!bias.value && bias.hidden > kHuge && !isLowestOfAll(bias))
        return std::nullopt;
      Value added = inBatches(bias.value ? likeScores(bias.value) : hiding(bias), bias.scores);
      if (!added)
        return std::nullopt;
      sum = sum ? b.create<AddOp>(loc, sum, added).getOutput() : added;
    }
    return sum;
  }

  // Constants that are f32 whatever the mode are rounded to the type of the scores, as adding them would: the kernel
  // takes a bias with several rows of that type alone.
  Value likeScores(Value bias) {
    auto element = dyn_cast<FloatType>(elementOf(match.scores.getOutput()));
    auto type = cast<RankedTensorType>(bias.getType());
    std::optional<Weight> weight = getConstant(bias);
    if (!weight || !element || !type.getElementType().isF32() || element.getWidth() >= 32 || type.getRank() < 2 ||
        type.getShape().take_back(2)[0] == 1)
      return bias;
    double largest = APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
    if (!llvm::all_of(toDoubles(*weight), [&](double x) { return std::abs(x) <= largest; }))
      return bias;
    std::string name = getTensorName(bias).str() + "_rounded";
    return createConstant(b, loc, name, type.clone(element), toFloats(*weight, element));
  }

  // A number that was cut to the range of f16 hides keys for all rows alike: such a bias may be f32, of that range.
  bool isLowestOfAll(const ScoreBias &bias) {
    auto element = cast<FloatType>(elementOf(match.scores.getOutput()));
    ArrayRef<int64_t> shape = shapeOf(bias.condition);
    bool isRow = shape.size() < 2 || shape.take_back(2)[0] == 1;
    return isRow && match.biases.size() == 1 && element.isF16() &&
           bias.hidden == -APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
  }

  Value constant(double number, Type element) {
    return createConstant(b, loc, "", RankedTensorType::get({}, element), fromDoubles(element, number));
  }

  Value hiding(const ScoreBias &bias) {
    Type element = isLowestOfAll(bias) ? b.getF32Type() : elementOf(match.scores.getOutput());
    double number = isLowestOfAll(bias) ? std::numeric_limits<float>::lowest() : bias.hidden;
    // The layers of a model hide the same keys.
    auto type = RankedTensorType::get(shapeOf(bias.condition), element);
    for (Operation *user : bias.condition.getUsers()) {
      auto found = dyn_cast<WhereOp>(user);
      if (!found || found.getType() != type || found->getBlock() != match.sums->getBlock() ||
          !found->isBeforeInBlock(match.sums) || found.getCondition() != bias.condition)
        continue;
      if (getSplat(found.getLhs()) == (bias.hidesWhereTrue ? number : 0) &&
          getSplat(found.getRhs()) == (bias.hidesWhereTrue ? 0 : number))
        return found;
    }
    Value hidden = constant(number, element), zero = constant(0, element);
    Value lhs = bias.hidesWhereTrue ? hidden : zero, rhs = bias.hidesWhereTrue ? zero : hidden;
    return b.create<WhereOp>(loc, bias.condition, lhs, rhs);
  }

  // Whether a constant is 0 up to a key that moves with the row, and hides those behind it.
  bool isCausal(const ScoreBias &bias) {
    constexpr double kHidden = -9999;
    Value source = bias.value ? bias.value : bias.condition;
    std::optional<Weight> weight = getConstant(source);
    ArrayRef<int64_t> shape = shapeOf(source);
    if (causalOffset || !weight || shape.size() < 2 || shape.take_back(2) != ArrayRef<int64_t>{rows, keys} ||
        ShapedType::getNumElements(shape) != rows * keys)
      return false;
    std::vector<double> numbers = toDoubles(*weight);
    if (!bias.value)
      for (double &number : numbers)
        number = (number != 0) == bias.hidesWhereTrue ? 2 * kHidden : 0;
    int64_t seen =
        std::find_if(numbers.begin(), numbers.begin() + keys, [](double x) { return x != 0; }) - numbers.begin();
    if (seen == 0 || seen == keys) // the first row sees nothing, or nothing is hidden from it
      return false;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < keys; ++j)
        if (double x = numbers[i * keys + j]; j < seen + i ? x != 0 : x > kHidden)
          return false;
    causalOffset = seen - 1;
    return true;
  }

  // A bias of scores that were viewed as `from`, for scores of [batch, heads, rows, keys].
  Value inBatches(Value bias, ArrayRef<int64_t> from) {
    SmallVector<int64_t> to{batch, heads}, own(from.size() - shapeOf(bias).size(), 1);
    llvm::append_range(own, shapeOf(bias));
    from = from.drop_back(2);
    if ((from.size() <= 2 && ArrayRef(to).take_back(from.size()) == from) ||
        ShapedType::getNumElements(ArrayRef(own).drop_back(2)) == 1) {
      // Leading dimensions of 1 may be missing.
      ArrayRef<int64_t> shape = shapeOf(bias);
      while (shape.size() > 4)
        shape = shape.drop_front();
      return reshaped(bias, shape);
    }
    return regrouped(bias, own, from, to);
  }

  // Each dimension of `to` covers some of `from`: expands the bias over those that it does not have alike.
  Value regrouped(Value bias, SmallVector<int64_t> own, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
    SmallVector<int64_t> wide(own), merged;
    size_t at = 0;
    for (int64_t size : to) {
      int64_t covered = 1;
      size_t begin = at;
      while (at < from.size() && (covered < size || from[at] == 1) && covered * from[at] <= size)
        covered *= from[at++];
      if (covered != size)
        return {};
      bool isAlike = llvm::all_of(ArrayRef(own).slice(begin, at - begin), [](int64_t n) { return n == 1; });
      if (!isAlike)
        std::copy(from.begin() + begin, from.begin() + at, wide.begin() + begin);
      merged.push_back(isAlike ? 1 : size);
    }
    if (at != from.size())
      return {};
    Value value = reshaped(bias, own);
    if (own != wide)
      value = b.create<ExpandOp>(loc, value, wide);
    llvm::append_range(merged, ArrayRef(own).take_back(2));
    return reshaped(value, merged);
  }

  AttentionMatch match;
  RewriterBase &b;
  Location loc;
  int64_t batch, heads, rows, keys, kvHeads = 0;
  std::optional<int64_t> causalOffset;
};

// Ops made since the construction.
struct Made : RewriterBase::Listener {
  SmallVector<Operation *> ops;
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.push_back(op); }
};

struct TopFuseAttention : impl::TopFuseAttentionBase<TopFuseAttention> {
  TopFuseAttention() = default;
  explicit TopFuseAttention(AttentionFilter wanted) : wanted(std::move(wanted)) {}

  void runOnOperation() override {
    Absorbed absorbed;
    SmallVector<MatMulOp> products;
    getOperation().walk([&](MatMulOp op) { products.push_back(op); });
    for (MatMulOp op : products)
      fuse(op, absorbed);
    absorbed.commit(getOperation());
    IRRewriter rewriter(&getContext());
    for (auto func : getOperation().getOps<func::FuncOp>())
      (void)runRegionDCE(rewriter, func->getRegions());
    // Reshapes of before would be other users.
    getOperation().walk([&](AttentionOp op) {
      if (mergeProjections(op, rewriter))
        PTO_DEBUG("one product makes the operands of the attention at " << op.getLoc());
    });
    SmallVector<AttentionOp> attentions; // a conversion behind one may be replaced with it
    getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
    for (AttentionOp op : attentions) {
      // Kernels of sizes that are known at run time have their rows as these.
      if (op->getParentOfType<func::FuncOp>()->hasAttr(kSymbolsAttr))
        continue;
      if (AttentionOp stacked = stackQueries(op, rewriter))
        PTO_DEBUG("heads that share keys are rows of the attention on " << stacked.getQuery().getType());
    }
  }

  void fuse(MatMulOp sums, Absorbed &absorbed) {
    std::string reason;
    std::optional<AttentionMatch> match = matchAttention(sums, reason);
    AttentionOp op;
    Made made;
    IRRewriter rewriter(sums, &made);
    if (match) {
      Fusion fusion(*match, rewriter);
      op = fusion.build(reason);
      if (op && wanted && !wanted(op))
        reason = "no kernel is wanted for it", op = {};
      if (op) {
        for (Operation *part : match->chain)
          absorbed.add(part->getLoc());
        Location last = sums->getLoc(), named = op->getLoc();
        fusion.replace(op);
        for (Location lost : {last, named})
          if (lost != op->getLoc())
            absorbed.add(lost);
        return;
      }
    }
    for (Operation *part : llvm::reverse(made.ops))
      rewriter.eraseOp(part);
    PTO_DEBUG("product at " << sums.getLoc() << " is no attention: " << reason);
  }

  AttentionFilter wanted;
};

} // namespace

std::unique_ptr<Pass> createTopFuseAttention(AttentionFilter wanted) {
  return std::make_unique<TopFuseAttention>(std::move(wanted));
}

} // namespace pto_mlir::top
