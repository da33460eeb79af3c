#include "IntegerRanges.h"
#include "FloatRanges.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"
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

/// Inputs that must be smaller than this are too small for a model's: its arithmetic goes to the host.
constexpr int64_t kLeastUsefulBound = 1 << 15;

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

/// A bound of a clip, or what a pad fills; infinities are far outside of what the device holds.
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
      ranges[argument] = ofType(argument);
    for (Value value : bounded)
      ranges[value] = {-bound, bound - 1};
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 1 && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType())) &&
          !bounded.contains(op->getResult(0)))
        note(*op);
    });
  }
  /// With the host at hand: an op whose result or an operand leaves the device's integers is computed there, and its
  /// result has the range that the model's type gives it.
  explicit IntegerRanges(func::FuncOp func) {
    for (Value argument : func.getArguments())
      ranges[argument] = ofType(argument);
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 1 && (isa<TopDialect>(op->getDialect()) || isa<arith::ConstantOp>(op)))
        noteWithHost(*op);
    });
  }

  struct Problem {
    Operation *op;
    Range range;
  };
  ArrayRef<Problem> problems() const { return found; }
  bool isWithin(Value value, int64_t magnitude) const {
    Range range = of(value);
    return range.low >= -magnitude && range.high <= magnitude;
  }

private:
  void noteWithHost(Operation &op) {
    Value result = op.getResult(0);
    auto isInteger = [](Value value) { return isa<IntegerType>(getElementTypeOrSelf(value.getType())); };
    Range range = isInteger(result) ? rangeOf(op) : kDevice;
    if (!isInteger(result) && llvm::none_of(op.getOperands(), isInteger))
      return;
    auto isBeyond = [](Range range) { return range.low < kDevice.low || range.high > kDevice.high; };
    auto beyond =
        llvm::find_if(op.getOperands(), [&](Value operand) { return isInteger(operand) && isBeyond(of(operand)); });
    Range own = isInteger(result) ? ofType(result) : kDevice;
    bool leaves = isInteger(result) && canLeave(op) && (range.low < own.low || range.high > own.high);
    bool isOfProgram = isControlFlow(&op) || op.getNumOperands() == 0;
    if (!isOfProgram && (leaves || beyond != op.operand_end()))
      found.push_back({&op, leaves ? range : of(*beyond)});
    if (!isInteger(result))
      return;
    Range whole = ofModel(result);
    ranges[result] = range.low < whole.low || range.high > whole.high ? whole : range;
  }

  /// Whether a value of the op that its type on the device does not hold is the model's own: types that the device has
  /// wrap in the model as well, and what a float beyond the type becomes is undefined: only i64 and u32 hold floats
  /// that the device's type does not.
  static bool canLeave(Operation &op) {
    if (isControlFlow(&op))
      return false;
    Type element = getElementTypeOrSelf(op.getResult(0).getType());
    bool fromFloat = isa<CastOp>(op) && isa<FloatType>(getElementTypeOrSelf(op.getOperand(0).getType()));
    return element.isSignlessInteger(64) || (isUncomputed(element) && (!fromFloat || element.isUnsignedInteger(32)));
  }

  void note(Operation &op) {
    Value result = op.getResult(0);
    Range range = rangeOf(op), own = ofType(result);
    if (range.low < own.low || range.high > own.high) {
      if (canLeave(op))
        found.push_back({&op, range});
      range = own;
    }
    ranges[result] = range;
  }

  static Range ofModel(Value value) {
    auto type = cast<IntegerType>(getElementTypeOrSelf(value.getType()));
    __int128 half = __int128(1) << (type.getWidth() - 1);
    return type.isUnsigned() ? Range{0, 2 * half - 1} : type.getWidth() == 1 ? Range{0, 1} : Range{-half, half - 1};
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
        .Case<BitAndOp, BitOrOp, BitXorOp>([&](auto) { return ofBits(left(), right()); })
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
          return isa<IntegerType>(from) ? left() : ofRounded(cast);
        })
        .Case([&](EncodeFloatOp) { return Range{0, UINT8_MAX}; })
        .Case([&](HostOp) { return ofModel(op.getResult(0)); })
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
        .Case([&](PadOp pad) {
          __int128 filling = whole(pad.getValue());
          return left().joined({filling, filling});
        })
        .Case([&](ResizeOp resize) { return resize.getMode() == "nearest" ? left().joined({0, 0}) : kDevice; })
        .Case([&](TopKIndicesOp topK) {
          return Range{0, cast<RankedTensorType>(topK.getInput().getType()).getShape().back() - 1};
        })
        .Case([&](ScatterOp scatter) { return ofScatter(scatter); })
        .Case<TopKValuesOp, GatherElementsOp>([&](auto) { return left(); })
        .Case<ReshapeOp, PermuteOp, SliceOp, ExpandOp, GatherOp, ReduceMaxOp, ReduceMinOp, MaxPoolOp>(
            [&](auto) { return left(); })
        .Default([](Operation *) { return kDevice; });
  }

  /// What the bits of both hold: a power of two more than the greatest of them, and its negative where one has a sign.
  static Range ofBits(Range a, Range b) {
    Range both = a.joined(b);
    __int128 end = 1;
    while (end <= both.high || -end > both.low)
      end *= 2;
    return {both.low < 0 ? -end : 0, end - 1};
  }

  /// Whether only clips to 32 bits read the integers, so that a cast that saturates there is as good as one to 64 bits.
  static bool isClipped(CastOp cast) {
    return llvm::all_of(cast->getUsers(), [](Operation *user) {
      auto clip = dyn_cast<ClipOp>(user);
      auto isWithin = [](const APFloat &bound) { return whole(bound) >= kDevice.low && whole(bound) <= kDevice.high; };
      return clip && clip.getMin() && clip.getMax() && isWithin(*clip.getMin()) && isWithin(*clip.getMax());
    });
  }

  /// Of a float cast to an integer; any value of i64 and u32 where nothing bounds it.
  Range ofRounded(CastOp cast) const {
    Type element = cast.getTo();
    if ((!element.isSignlessInteger(64) && !element.isUnsignedInteger(32)) || isClipped(cast))
      return kDevice;
    Range whole = ofModel(cast.getOutput());
    std::optional<FloatRange> bounds = floatRange(cast.getInput(), [&](Value value) {
      Range range = of(value);
      return FloatRange{double(range.low), double(range.high)};
    });
    if (!bounds || bounds->low < double(whole.low) || bounds->high > double(whole.high))
      return whole;
    return {__int128(bounds->low), __int128(bounds->high)};
  }

  Range ofScatter(ScatterOp scatter) const {
    Range data = of(scatter.getData()), update = of(scatter.getUpdates());
    int64_t count = cast<RankedTensorType>(scatter.getPositions().getType()).getNumElements();
    if (scatter.getReduction() == "add")
      return {data.low + std::min<__int128>(update.low * count, 0),
              data.high + std::max<__int128>(update.high * count, 0)};
    if (scatter.getReduction() != "mul")
      return data.joined(update);
    // Any number of factors: signs alone are safe.
    bool signs = update.low >= -1 && update.high <= 1;
    __int128 most = std::max(-data.low, data.high);
    return signs ? Range{-most, most} : Range{-(__int128(1) << 62), __int128(1) << 62};
  }

  llvm::DenseMap<Value, Range> ranges;
  SmallVector<Problem> found;
};

/// The i64 values on which the ops' values depend and that nets get from outside: arguments, and what control flow
/// makes.
llvm::SetVector<Value> inputsOf(ArrayRef<IntegerRanges::Problem> problems) {
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Operation *> ops;
  for (const auto &problem : problems)
    ops.insert(problem.op);
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && !isControlFlow(producer))
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

/// The greatest bound of the inputs with which no problem is left; 0 when there is none.
static int64_t greatestBound(func::FuncOp func, const llvm::SetVector<Value> &inputs) {
  auto fits = [&](int64_t bound) { return IntegerRanges(func, inputs, bound).problems().empty(); };
  if (inputs.empty() || !fits(1))
    return 0;
  int64_t bound = 1, tooMuch = int64_t(INT32_MAX) + 1;
  while (tooMuch - bound > 1) {
    int64_t middle = bound + (tooMuch - bound) / 2;
    (fits(middle) ? bound : tooMuch) = middle;
  }
  return bound;
}

llvm::MapVector<Operation *, std::string> integersForHost(func::FuncOp func) {
  llvm::MapVector<Operation *, std::string> ops;
  bool hasHostOps = func.walk([](HostOp) { return WalkResult::interrupt(); }).wasInterrupted();
  IntegerRanges unbounded(func, {}, 0);
  // What the host computes may have any value of its type, so that no bound of the inputs helps its readers.
  if (!hasHostOps &&
      (unbounded.problems().empty() || greatestBound(func, inputsOf(unbounded.problems())) >= kLeastUsefulBound))
    return ops;
  IntegerRanges withHost(func);
  for (const IntegerRanges::Problem &problem : withHost.problems())
    ops[problem.op] = "integers from " + text(problem.range.low) + " to " + text(problem.range.high);
  return ops;
}

LogicalResult boundIntegers(func::FuncOp func) {
  IntegerRanges unbounded(func, {}, 0);
  if (unbounded.problems().empty())
    return success();
  llvm::SetVector<Value> inputs = inputsOf(unbounded.problems());
  int64_t bound = greatestBound(func, inputs);
  if (bound == 0) {
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
  Builder builder(func.getContext());
  for (Value input : inputs) {
    // The rest is bounded where it enters a net.
    if (!llvm::is_contained(func.getArguments(), input))
      continue;
    unsigned number = cast<BlockArgument>(input).getArgNumber();
    func.setArgAttr(number, kIndexBoundAttr, builder.getI64IntegerAttr(bound));
    func.setArgAttr(number, kArithmeticBoundAttr, builder.getUnitAttr());
  }
  return success();
}

SmallVector<Operation *> castsOfLargeIntegers(func::FuncOp func, int64_t exact) {
  SmallVector<Operation *> casts;
  IntegerRanges ranges(func, {}, 0);
  for (auto cast : func.getBody().front().getOps<CastOp>())
    if (isa<IntegerType>(getElementTypeOrSelf(cast.getInput().getType())) && isa<FloatType>(cast.getTo()) &&
        !ranges.isWithin(cast.getInput(), exact))
      casts.push_back(cast);
  return casts;
}

} // namespace pto_mlir::top
