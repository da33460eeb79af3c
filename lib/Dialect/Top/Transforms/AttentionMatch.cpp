#include "AttentionMatch.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::top {
namespace {

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

bool keepsMatrices(ReshapeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(op.getOutput());
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}

// The operand of a product or quotient with one constant number, and the number as a factor.
Value scaled(Operation *op, double &factor) {
  if (auto mul = dyn_cast_or_null<MulOp>(op))
    for (auto [value, other] :
         {std::pair<Value, Value>(mul.getLhs(), mul.getRhs()), std::pair<Value, Value>(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> number = getSplat(other); number && shapeOf(value) == shapeOf(mul.getOutput()))
        return factor = *number, value;
  if (auto div = dyn_cast_or_null<DivOp>(op))
    if (std::optional<double> number = getSplat(div.getRhs());
        number && *number != 0 && shapeOf(div.getLhs()) == shapeOf(div.getOutput()))
      return factor = 1 / *number, div.getLhs();
  return {};
}

class Matcher {
public:
  Matcher(MatMulOp sums, std::string &reason) : reason(reason) { match.sums = sums; }

  std::optional<AttentionMatch> run() {
    MatMulOp sums = match.sums;
    if (sums.getBias() || sums.getTransposeA() || sums.getTransposeB() || !isFloat(sums.getOutput()))
      return refuse("the last product has a bias or is transposed");
    Value at = behindSoftmax(sums.getLhs());
    if (!at || !beforeSoftmax(at))
      return refuse("no softmax of scores");
    if (!operands())
      return refuse("keys are moved in another way");
    for (Operation *op : match.chain)
      for (Operation *user : op->getUsers())
        if (user != sums && !llvm::is_contained(match.chain, user))
          return refuse("something else reads scores or weights");
    return match;
  }

private:
  std::nullopt_t refuse(StringRef why) {
    if (reason.empty())
      reason = why.str();
    return std::nullopt;
  }

  // Walks from the product with V to the softmax; returns what the softmax reads.
  Value behindSoftmax(Value at) {
    while (Operation *op = at.getDefiningOp()) {
      match.chain.push_back(op);
      if (auto cast = dyn_cast<CastOp>(op); cast && isFloat(cast.getInput()) && isFloat(at))
        at = cast.getInput();
      else if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && keepsMatrices(reshape))
        at = reshape.getInput();
      else if (auto where = dyn_cast<WhereOp>(op); where && isGuard(where))
        at = where.getRhs();
      else if (auto softmax = dyn_cast<SoftmaxOp>(op))
        return int64_t(softmax.getAxis()) + 1 == int64_t(shapeOf(at).size()) ? Value(softmax.getInput()) : Value();
      else
        return spelledSoftmax(op);
    }
    return {};
  }

  // exp(x - max(x)) / sum(exp(x - max(x))) over the last dimension.
  Value spelledSoftmax(Operation *op) {
    auto div = dyn_cast<DivOp>(op);
    auto exp = div ? div.getLhs().getDefiningOp<ExpOp>() : ExpOp();
    auto sum = div ? div.getRhs().getDefiningOp<ReduceSumOp>() : ReduceSumOp();
    auto sub = exp ? exp.getInput().getDefiningOp<SubOp>() : SubOp();
    auto max = sub ? sub.getRhs().getDefiningOp<ReduceMaxOp>() : ReduceMaxOp();
    if (!sum || !max || sum.getInput() != exp.getOutput() || max.getInput() != sub.getLhs())
      return {};
    int64_t last = static_cast<int64_t>(shapeOf(exp.getOutput()).size()) - 1;
    if (sum.getAxes() != ArrayRef<int64_t>{last} || max.getAxes() != ArrayRef<int64_t>{last} || !sum.getKeepdims() ||
        !max.getKeepdims())
      return {};
    match.chain.append({exp, sum, sub, max});
    return sub.getLhs();
  }

  // where(x is no number, 0, x), or where(max of a bias == -inf, 0, x): rows without keys are 0. Without a bias the
  // condition has been folded to false.
  bool isGuard(WhereOp where) {
    if (getSplat(where.getLhs()) != 0.0)
      return false;
    if (getSplat(where.getCondition()) == 0.0)
      return true;
    Operation *condition = where.getCondition().getDefiningOp();
    if (auto negated = dyn_cast_or_null<NotOp>(condition)) {
      auto compare = negated.getInput().getDefiningOp<CompareOp>();
      if (!compare || compare.getMode() != "eq" || compare.getLhs() != where.getRhs() ||
          compare.getRhs() != where.getRhs())
        return false;
      match.chain.append({negated, compare});
      return true;
    }
    auto compare = dyn_cast_or_null<CompareOp>(condition);
    if (!compare || compare.getMode() != "eq")
      return false;
    std::optional<double> number = getSplat(compare.getRhs());
    guarded = compare.getLhs().getDefiningOp<ReduceMaxOp>();
    return guarded && number && std::isinf(*number) && *number < 0;
  }

  // Walks from the softmax to the product of queries and keys.
  bool beforeSoftmax(Value at) {
    while (Operation *op = at.getDefiningOp()) {
      double factor = 1;
      if (auto product = dyn_cast<MatMulOp>(op)) {
        match.chain.push_back(op);
        match.scores = product;
        return !product.getBias() && !product.getTransposeA() && isKnownGuard();
      }
      match.chain.push_back(op);
      if (auto cast = dyn_cast<CastOp>(op); cast && isFloat(cast.getInput()) && isFloat(at))
        at = cast.getInput();
      else if (auto reshape = dyn_cast<ReshapeOp>(op); reshape && keepsMatrices(reshape))
        at = reshape.getInput();
      else if (Value capped = softcapped(op))
        at = capped;
      else if (Value inner = scaled(op, factor))
        match.scale *= factor, at = inner;
      else if (auto add = dyn_cast<AddOp>(op))
        at = biased(add);
      else if (auto where = dyn_cast<WhereOp>(op))
        at = masked(where);
      else
        return false;
      if (!at)
        return false;
    }
    return false;
  }

  // A guard looks at one of the biases: a row is without keys where all of that are hidden. One of a constant (a bias
  // that was folded away) has to let every row see something.
  bool isKnownGuard() {
    if (!guarded)
      return true;
    if (std::optional<Weight> weight = getConstant(guarded.getInput())) {
      ArrayRef<int64_t> shape = weight->type.getShape();
      std::vector<double> numbers = toDoubles(*weight);
      for (auto row = numbers.begin(); row != numbers.end(); row += shape.back())
        if (std::all_of(row, row + shape.back(), [](double x) { return std::isinf(x) && x < 0; }))
          return false;
      return true;
    }
    return llvm::any_of(match.biases, [&](const ScoreBias &bias) { return bias.value == guarded.getInput(); });
  }

  // cap * tanh(factor * x); the factor belongs to the scale.
  Value softcapped(Operation *op) {
    double cap = 1, factor = 1;
    Value bent = scaled(op, cap);
    auto tanh = bent ? bent.getDefiningOp<TanhOp>() : TanhOp();
    if (!tanh || cap <= 0 || match.scale != 1 || match.softcap != 0)
      return {};
    match.chain.push_back(tanh);
    Value inner = scaled(tanh.getInput().getDefiningOp(), factor);
    if (inner)
      match.chain.push_back(tanh.getInput().getDefiningOp());
    match.softcap = cap;
    match.scale = factor * cap;
    return inner ? inner : tanh.getInput();
  }

  // Whether scores come out of `value` by the steps that are known.
  bool leadsToProduct(Value value, int depth = 0) {
    Operation *op = value.getDefiningOp();
    if (!op || depth > 16)
      return false;
    if (isa<MatMulOp>(op))
      return true;
    if (isa<CastOp, ReshapeOp, TanhOp>(op))
      return leadsToProduct(op->getOperand(0), depth + 1);
    if (isa<MulOp, DivOp, AddOp>(op))
      return leadsToProduct(op->getOperand(0), depth + 1) || leadsToProduct(op->getOperand(1), depth + 1);
    return isa<WhereOp>(op) &&
           (leadsToProduct(op->getOperand(1), depth + 1) || leadsToProduct(op->getOperand(2), depth + 1));
  }

  // A bias below a factor or behind a softcap of its own would be another function.
  bool mayAdd() { return match.scale == 1 && match.softcap == 0; }

  Value biased(AddOp add) {
    if (!mayAdd())
      return {};
    for (auto [value, other] :
         {std::pair<Value, Value>(add.getLhs(), add.getRhs()), std::pair<Value, Value>(add.getRhs(), add.getLhs())})
      if (shapeOf(value) == shapeOf(add.getOutput()) && leadsToProduct(value)) {
        match.biases.push_back({other, {}, 0, false, llvm::to_vector(shapeOf(value))});
        return value;
      }
    return {};
  }

  // where(mask, x, hidden) or where(mask, hidden, x).
  Value masked(WhereOp where) {
    constexpr double kHidden = -9999;
    for (bool hidesWhereTrue : {false, true}) {
      Value value = hidesWhereTrue ? where.getRhs() : where.getLhs(),
            other = hidesWhereTrue ? where.getLhs() : where.getRhs();
      std::optional<double> hidden = getSplat(other);
      if (!mayAdd() || !hidden || *hidden > kHidden || shapeOf(value) != shapeOf(where.getOutput()) ||
          !leadsToProduct(value))
        continue;
      match.biases.push_back({{}, where.getCondition(), *hidden, hidesWhereTrue, llvm::to_vector(shapeOf(value))});
      return value;
    }
    return {};
  }

  // Removes constant factors.
  Value unscaled(Value value) {
    double factor = 1;
    while (Value inner = scaled(value.getDefiningOp(), factor)) {
      match.scale *= factor;
      value = inner;
    }
    return value;
  }

  bool operands() {
    MatMulOp product = match.scores;
    match.query = unscaled(product.getLhs());
    match.key = unscaled(product.getRhs());
    if (product.getTransposeB())
      return true;
    // The transpose of K is a permutation of K.
    auto permute = match.key.getDefiningOp<PermuteOp>();
    if (!permute)
      return false;
    SmallVector<int64_t> perm(permute.getPerm());
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    match.key = unscaled(permute.getInput());
    if (!llvm::is_sorted(perm))
      match.keyPermutation = perm;
    return true;
  }

  std::string &reason;
  AttentionMatch match;
  ReduceMaxOp guarded;
};

} // namespace

std::optional<AttentionMatch> matchAttention(MatMulOp sums, std::string &reason) { return Matcher(sums, reason).run(); }

Value repeatedHeads(Value value, int64_t &times) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  auto expand = reshape ? reshape.getInput().getDefiningOp<ExpandOp>() : ExpandOp();
  if (!expand)
    return {};
  ArrayRef<int64_t> from = shapeOf(expand.getInput()), wide = shapeOf(expand.getOutput()), to = shapeOf(value);
  if (wide.size() != 5 || from.size() != 5 || to.size() != 4 || from[2] != 1 || from[1] != wide[1] ||
      to[1] != wide[1] * wide[2] || to[0] != wide[0] || from[0] != wide[0] || to.take_back(2) != wide.take_back(2) ||
      from.take_back(2) != wide.take_back(2))
    return {};
  times = wide[2];
  return expand.getInput();
}

} // namespace pto_mlir::top
