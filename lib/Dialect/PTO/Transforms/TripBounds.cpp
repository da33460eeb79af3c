//===- TripBounds.cpp - how often a loop runs ---------------------------------------===//

#include "TripBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;
using namespace pto_mlir::pto;

namespace {
/// A value lies in [low, high]; a bound of -kFar or kFar means unbounded.
struct ValueBounds {
  static constexpr int64_t kFar = TripBounds::kMany;
  int64_t low = -kFar, high = kFar;
};
} // namespace

static int64_t clampFar(int64_t value) { return std::clamp(value, -ValueBounds::kFar, ValueBounds::kFar); }
static bool isFar(int64_t value) { return value == ValueBounds::kFar || value == -ValueBounds::kFar; }

/// A sum of bounds of which one is far is as far.
static int64_t addBounds(int64_t a, int64_t b) { return isFar(a) ? a : isFar(b) ? b : clampFar(a + b); }

static int64_t multiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  bool negative = (a < 0) != (b < 0);
  if (isFar(a) || isFar(b) || std::abs(a) > ValueBounds::kFar / std::abs(b))
    return negative ? -ValueBounds::kFar : ValueBounds::kFar;
  return a * b;
}

static ValueBounds getValueBounds(Value value, unsigned depth = 0) {
  ValueBounds any;
  if (depth > 16)
    return any;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return any;
    ValueBounds step = getValueBounds(loop.getStep(), depth + 1);
    if (step.low < 1)
      return any;
    return {getValueBounds(loop.getLowerBound(), depth + 1).low,
            addBounds(getValueBounds(loop.getUpperBound(), depth + 1).high, -1)};
  }
  Operation *op = value.getDefiningOp();
  auto in = [&](unsigned i) { return getValueBounds(op->getOperand(i), depth + 1); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    if (!integer || integer.getValue().getSignificantBits() > 64)
      return any;
    return {clampFar(integer.getInt()), clampFar(integer.getInt())};
  }
  if (llvm::isa<GetBlockIdxOp>(op))
    return {0, ValueBounds::kFar};
  if (llvm::isa<GetBlockNumOp>(op))
    return {1, ValueBounds::kFar};
  if (llvm::isa<GetSubBlockIdxOp>(op))
    return {0, 1};
  if (llvm::isa<GetSubBlockNumOp>(op))
    return {1, 2};
  if (llvm::isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return in(0);
  if (llvm::isa<arith::AddIOp>(op))
    return {addBounds(in(0).low, in(1).low), addBounds(in(0).high, in(1).high)};
  if (llvm::isa<arith::SubIOp>(op))
    return {addBounds(in(0).low, -in(1).high), addBounds(in(0).high, -in(1).low)};
  if (llvm::isa<arith::MulIOp>(op)) {
    ValueBounds a = in(0), b = in(1);
    auto corners = {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low), multiply(a.high, b.high)};
    return {std::min(corners), std::max(corners)};
  }
  if (llvm::isa<arith::MinSIOp>(op))
    return {std::min(in(0).low, in(1).low), std::min(in(0).high, in(1).high)};
  if (llvm::isa<arith::MaxSIOp>(op))
    return {std::max(in(0).low, in(1).low), std::max(in(0).high, in(1).high)};
  if (llvm::isa<arith::SelectOp>(op))
    return {std::min(in(1).low, in(2).low), std::max(in(1).high, in(2).high)};
  if (llvm::isa<arith::RemSIOp>(op)) {
    ValueBounds a = in(0), b = in(1);
    if (b.low < 1 || b.high == ValueBounds::kFar)
      return any;
    return {a.low >= 0 ? 0 : 1 - b.high, b.high - 1};
  }
  return any;
}

TripBounds pto_mlir::pto::getTripBounds(scf::ForOp loop) {
  ValueBounds begin = getValueBounds(loop.getLowerBound()), end = getValueBounds(loop.getUpperBound()),
              step = getValueBounds(loop.getStep());
  if (step.low < 1)
    return {};
  auto trips = [](int64_t distance, int64_t step) { // of loops that are this long
    if (distance <= 0)
      return int64_t(0);
    return isFar(distance) ? TripBounds::kMany : (distance - 1) / step + 1;
  };
  return {trips(addBounds(end.low, -begin.high), step.high), trips(addBounds(end.high, -begin.low), step.low)};
}
