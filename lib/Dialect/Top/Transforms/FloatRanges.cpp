#include "FloatRanges.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace pto_mlir::top {
namespace {

/// A chain of ops longer than this counts as unbounded.
constexpr unsigned kMostOps = 16;

class Bounds {
public:
  explicit Bounds(llvm::function_ref<FloatRange(Value)> ofIntegers) : ofIntegers(ofIntegers) {}

  /// An interval that is not finite stands for no bounds.
  FloatRange of(Value value, unsigned depth = 0) {
    auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
    if (!type)
      return ofIntegers(value);
    if (auto found = known.find(value); found != known.end())
      return found->second;
    FloatRange range = kAll;
    Operation *op = value.getDefiningOp();
    if (std::optional<Weight> weight = op ? getConstant(value) : std::nullopt)
      range = ofConstant(*weight);
    else if (op && depth < kMostOps)
      range = ofOp(*op, depth + 1);
    double most = llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    bool isNarrow = type.getWidth() <= 16;
    return known[value] = isNarrow ? FloatRange{std::max(range.low, -most), std::min(range.high, most)} : range;
  }

private:
  static constexpr FloatRange kAll{-HUGE_VAL, HUGE_VAL};

  static FloatRange ofConstant(const Weight &weight) {
    std::vector<double> values = toDoubles(weight);
    values.erase(std::remove_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); }),
                 values.end());
    if (values.empty())
      return {0, 0};
    auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {*low, *high};
  }

  static FloatRange product(FloatRange a, FloatRange b) {
    double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    if (std::any_of(std::begin(corners), std::end(corners), [](double x) { return std::isnan(x); }))
      return kAll;
    auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
    return {*low, *high};
  }

  // What rounding adds in f32 is far below what the bounds are asked for: whether a number fits 32 bits.
  FloatRange ofOp(Operation &op, unsigned depth) {
    auto operand = [&](unsigned i) { return of(op.getOperand(i), depth); };
    return llvm::TypeSwitch<Operation *, FloatRange>(&op)
        .Case<SigmoidOp, HardSigmoidOp, SoftmaxOp>([](auto) { return FloatRange{0, 1}; })
        .Case<TanhOp, ErfOp, SinOp, CosOp, SignOp>([](auto) { return FloatRange{-1, 1}; })
        .Case<AtanOp, AsinOp>([](auto) { return FloatRange{-2, 2}; })
        .Case([](AcosOp) { return FloatRange{0, 4}; })
        .Case([&](ClipOp clip) {
          FloatRange range = operand(0);
          if (auto least = clip.getMin())
            range = {std::max(range.low, least->convertToDouble()), std::max(range.high, least->convertToDouble())};
          if (auto most = clip.getMax())
            range = {std::min(range.low, most->convertToDouble()), std::min(range.high, most->convertToDouble())};
          return range;
        })
        .Case([&](ReluOp) { return FloatRange{std::max(operand(0).low, 0.0), std::max(operand(0).high, 0.0)}; })
        .Case([&](FloorOp) { return FloatRange{std::floor(operand(0).low), std::floor(operand(0).high)}; })
        .Case([&](CeilOp) { return FloatRange{std::ceil(operand(0).low), std::ceil(operand(0).high)}; })
        .Case([&](RoundOp) { return FloatRange{std::floor(operand(0).low), std::ceil(operand(0).high)}; })
        .Case([&](NegOp) { return FloatRange{-operand(0).high, -operand(0).low}; })
        .Case([&](AbsOp) {
          FloatRange range = operand(0);
          return FloatRange{0, std::max(-range.low, range.high)};
        })
        .Case([&](AddOp) { return FloatRange{operand(0).low + operand(1).low, operand(0).high + operand(1).high}; })
        .Case([&](SubOp) { return FloatRange{operand(0).low - operand(1).high, operand(0).high - operand(1).low}; })
        .Case([&](MulOp) { return product(operand(0), operand(1)); })
        .Case([&](MaxOp) {
          return FloatRange{std::max(operand(0).low, operand(1).low), std::max(operand(0).high, operand(1).high)};
        })
        .Case([&](MinOp) {
          return FloatRange{std::min(operand(0).low, operand(1).low), std::min(operand(0).high, operand(1).high)};
        })
        .Case([&](WhereOp) { return joined(operand(1), operand(2)); })
        .Case([&](ConcatOp) {
          FloatRange range = operand(0);
          for (unsigned i = 1; i < op.getNumOperands(); ++i)
            range = joined(range, operand(i));
          return range;
        })
        .Case<CastOp, ReshapeOp, PermuteOp, SliceOp, ExpandOp, GatherOp, GatherElementsOp, TopKValuesOp, ReduceMaxOp,
              ReduceMinOp, ReduceMeanOp, MaxPoolOp>([&](auto) { return operand(0); })
        .Default([](Operation *) { return kAll; });
  }

  static FloatRange joined(FloatRange a, FloatRange b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

  llvm::function_ref<FloatRange(Value)> ofIntegers;
  llvm::DenseMap<Value, FloatRange> known;
};

} // namespace

std::optional<FloatRange> floatRange(Value value, llvm::function_ref<FloatRange(Value)> ofIntegers) {
  FloatRange range = Bounds(ofIntegers).of(value);
  return std::isfinite(range.low) && std::isfinite(range.high) ? std::optional(range) : std::nullopt;
}

} // namespace pto_mlir::top
