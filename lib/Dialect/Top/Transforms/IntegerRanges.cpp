#include "IntegerRanges.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::top {
namespace {

/// From low to high. 128 bits: what one op makes of two numbers of 32 bits, summed over a tensor, has fewer.
struct Range {
  __int128 low, high;

  Range joined(Range other) const { return {std::min(low, other.low), std::max(high, other.high)}; }
};
constexpr Range kDevice{INT32_MIN, INT32_MAX};

Range rangeOf(IntegerType type) {
  unsigned width = std::min(type.getWidth(), 32u);
  if (!type.isUnsigned())
    return width == 1 ? Range{0, 1} : Range{-(__int128(1) << (width - 1)), (__int128(1) << (width - 1)) - 1};
  return {0, std::min<__int128>((__int128(1) << width) - 1, INT32_MAX)};
}

bool isLong(Value value) { return getElementTypeOrSelf(value.getType()).isSignlessInteger(64); }

Range product(Range a, Range b) {
  auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

/// A bound of a clip; infinities are far outside of what the device holds.
__int128 whole(const APFloat &bound) {
  return static_cast<__int128>(std::clamp(bound.convertToDouble(), -0x1p62, 0x1p62));
}

std::string text(__int128 value) {
  double number = static_cast<double>(value);
  return value == static_cast<int64_t>(value) ? std::to_string(static_cast<int64_t>(value)) : std::to_string(number);
}

/// The ranges of a net's integers, op by op.
class IntegerRanges {
public:
  /// The inputs in `bounded` have values from -bound to bound - 1.
  IntegerRanges(func::FuncOp func, const llvm::SetVector<Value> &bounded, int64_t bound) {
    for (Value argument : func.getArguments())
      ranges[argument] = bounded.contains(argument) ? Range{-bound, bound - 1} : ofType(argument);
    for (Operation &op : func.getBody().front().without_terminator())
      if (op.getNumResults() == 1 && isa<IntegerType>(getElementTypeOrSelf(op.getResult(0).getType())))
        note(op);
  }

  struct Problem {
    Operation *op;
    Range range;
  };
  ArrayRef<Problem> problems() const { return found; }

private:
  void note(Operation &op) {
    Value result = op.getResult(0);
    Range range = rangeOf(op), own = ofType(result);
    if (range.low < own.low || range.high > own.high) {
      // Types that the device has wrap in the model as well. What a float beyond the type becomes is undefined.
      bool fromFloat = isa<CastOp>(op) && isa<FloatType>(getElementTypeOrSelf(op.getOperand(0).getType()));
      if (isLong(result) || (isUncomputed(getElementTypeOrSelf(result.getType())) && !fromFloat))
        found.push_back({&op, range});
      range = own;
    }
    ranges[result] = range;
  }

  static Range ofType(Value value) {
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
    return type ? top::rangeOf(type) : kDevice;
  }

  Range of(Value value) const {
    auto known = ranges.find(value);
    return known == ranges.end() ? kDevice : known->second;
  }
  Range joinedOperands(Operation &op, unsigned first = 0) const {
    Range range = of(op.getOperand(first));
    for (Value operand : op.getOperands().drop_front(first + 1))
      range = range.joined(of(operand));
    return range;
  }

  static Range ofConstant(Value value) {
    std::optional<Weight> weight = getConstant(value);
    if (!weight)
      return kDevice;
    std::vector<int64_t> numbers = toInts(*weight);
    if (numbers.empty())
      return {0, 0};
    auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    return {*low, *high};
  }

  Range rangeOf(Operation &op) const {
    auto left = [&] { return of(op.getOperand(0)); };
    auto right = [&] { return of(op.getOperand(1)); };
    return llvm::TypeSwitch<Operation *, Range>(&op)
        .Case<WeightOp, arith::ConstantOp>([&](auto) { return ofConstant(op.getResult(0)); })
        .Case<CompareOp, AndOp, OrOp, XorOp, NotOp>([](auto) { return Range{0, 1}; })
        .Case([&](AddOp) { return Range{left().low + right().low, left().high + right().high}; })
        .Case([&](SubOp) { return Range{left().low - right().high, left().high - right().low}; })
        .Case([&](MulOp) { return product(left(), right()); })
        .Case([&](DivOp) {
          Range a = left(), b = right();
          if (b.low >= 0)
            return a.joined({0, 0});
          __int128 most = std::max(-a.low, a.high);
          return Range{-most, most};
        })
        .Case([&](MaxOp) { return Range{std::max(left().low, right().low), std::max(left().high, right().high)}; })
        .Case([&](MinOp) { return Range{std::min(left().low, right().low), std::min(left().high, right().high)}; })
        .Case([&](ReluOp) { return Range{std::max<__int128>(left().low, 0), std::max<__int128>(left().high, 0)}; })
        .Case([&](NegOp) { return Range{-left().high, -left().low}; })
        .Case([&](AbsOp) { return Range{0, std::max(-left().low, left().high)}; })
        .Case([&](ReduceSumOp sum) {
          int64_t count = cast<RankedTensorType>(sum.getInput().getType()).getNumElements() /
                          std::max<int64_t>(cast<RankedTensorType>(sum.getType()).getNumElements(), 1);
          return product(left(), {count, count}).joined({0, 0});
        })
        .Case([&](CastOp cast) {
          Type from = getElementTypeOrSelf(cast.getInput().getType());
          if (getElementTypeOrSelf(cast.getType()).isInteger(1) || from.isInteger(1))
            return Range{0, 1};
          return isa<IntegerType>(from) ? left() : kDevice;
        })
        .Case([&](WhereOp) { return joinedOperands(op, 1); })
        .Case<ConcatOp>([&](auto) { return joinedOperands(op); })
        .Case([&](ClipOp clip) {
          Range range = left();
          if (std::optional<APFloat> least = clip.getMin())
            range = {std::max(range.low, whole(*least)), std::max(range.high, whole(*least))};
          if (std::optional<APFloat> most = clip.getMax())
            range = {std::min(range.low, whole(*most)), std::min(range.high, whole(*most))};
          return range;
        })
        .Case<ReshapeOp, PermuteOp, SliceOp, ExpandOp, GatherOp, ReduceMaxOp, ReduceMinOp>([&](auto) { return left(); })
        .Default([](Operation *) { return kDevice; });
  }

  llvm::DenseMap<Value, Range> ranges;
  SmallVector<Problem> found;
};

/// The i64 inputs that the ops' values depend on.
llvm::SetVector<Value> inputsOf(ArrayRef<IntegerRanges::Problem> problems) {
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Operation *> ops;
  for (const auto &problem : problems)
    ops.insert(problem.op);
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands()) {
      if (Operation *producer = operand.getDefiningOp())
        ops.insert(producer);
      else if (isLong(operand))
        inputs.insert(operand);
    }
  return inputs;
}

} // namespace

bool isUncomputed(Type element) {
  auto type = dyn_cast<IntegerType>(element);
  return type && (type.getWidth() == 8 || (type.isUnsigned() && (type.getWidth() == 16 || type.getWidth() == 32)));
}

LogicalResult boundIntegers(func::FuncOp func) {
  IntegerRanges unbounded(func, {}, 0);
  if (unbounded.problems().empty())
    return success();
  llvm::SetVector<Value> inputs = inputsOf(unbounded.problems());
  auto fits = [&](int64_t bound) { return IntegerRanges(func, inputs, bound).problems().empty(); };
  if (inputs.empty() || !fits(1)) {
    IntegerRanges least(func, inputs, 1);
    const IntegerRanges::Problem &problem = least.problems().front();
    Type element = getElementTypeOrSelf(problem.op->getResult(0).getType());
    if (isUncomputed(element))
      return problem.op->emitError() << "its integers of type " << element << " may be from " << text(problem.range.low)
                                     << " to " << text(problem.range.high)
                                     << " and wrap; the device computes them in 32 bits: cast to int32 before, and "
                                        "back behind a Mod or Clip";
    return problem.op->emitError() << "its 64-bit integers may be from " << text(problem.range.low) << " to "
                                   << text(problem.range.high)
                                   << ", and integers are 32 bits wide on the device; compute them in int32 or float, "
                                      "or clip what they are made of";
  }
  int64_t bound = 1, tooMuch = int64_t(INT32_MAX) + 1;
  while (tooMuch - bound > 1) {
    int64_t middle = bound + (tooMuch - bound) / 2;
    (fits(middle) ? bound : tooMuch) = middle;
  }
  Builder builder(func.getContext());
  for (Value input : inputs) {
    unsigned number = cast<BlockArgument>(input).getArgNumber();
    func.setArgAttr(number, kIndexBoundAttr, builder.getI64IntegerAttr(bound));
    func.setArgAttr(number, kArithmeticBoundAttr, builder.getUnitAttr());
  }
  return success();
}

} // namespace pto_mlir::top
