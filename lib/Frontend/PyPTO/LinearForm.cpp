// Index expressions as sums of multiples, and how large they can become.
#include "LinearForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace pto_mlir::pypto_frontend {

/// Narrower integers wrap around.
static bool isWide(Type type) { return type.isIndex() || type.isInteger(64); }

void LinearForm::add(Value value, int64_t times) {
  if (auto known = getConstantIntValue(value)) {
    constant += times * *known;
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op && mlir::isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return add(op->getOperand(0), times);
  if (op && mlir::isa<arith::AddIOp, arith::SubIOp>(op) && isWide(value.getType())) {
    add(op->getOperand(0), times);
    return add(op->getOperand(1), mlir::isa<arith::AddIOp>(op) ? times : -times);
  }
  if (auto product = dyn_cast_or_null<arith::MulIOp>(op); product && isWide(value.getType()))
    for (unsigned i : {0, 1})
      if (auto known = getConstantIntValue(product->getOperand(i)))
        return add(product->getOperand(1 - i), times * *known);
  if ((terms[value] += times) == 0)
    terms.erase(value);
}

void LinearForm::add(const LinearForm &other, int64_t times) {
  constant += times * other.constant;
  for (auto [value, coefficient] : other.terms)
    if ((terms[value] += times * coefficient) == 0)
      terms.erase(value);
}

using Bound = std::optional<int64_t>;

static Bound times(Bound a, Bound b) { return a && b ? Bound(*a * *b) : std::nullopt; }

/// An index takes the values first, first + step, ..: all are congruent to first modulo what divides step.
static Bounds boundsOfIndex(scf::ForOp loop) {
  LinearForm first(loop.getLowerBound());
  Bounds bounds = {boundsOf(first).least, std::nullopt}, stop = boundsOf(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!stop.most || !step || *step <= 0)
    return bounds;
  int64_t divisor = *step;
  for (auto [value, coefficient] : first.terms)
    divisor = std::gcd(divisor, coefficient);
  int64_t rest = (*stop.most - 1 - first.constant) % divisor;
  bounds.most = *stop.most - 1 - (rest < 0 ? rest + divisor : rest);
  return bounds;
}

static Bounds boundsByOp(Value value) {
  if (auto known = getConstantIntValue(value))
    return {known, known};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() ? boundsOfIndex(loop) : Bounds();
  }
  Operation *op = value.getDefiningOp();
  if (mlir::isa<pto::GetSubBlockIdxOp>(op))
    return {0, 1};
  if (mlir::isa<pto::GetBlockIdxOp>(op))
    return {0, std::nullopt};
  if (mlir::isa<pto::GetBlockNumOp>(op))
    return {1, std::nullopt};
  if (mlir::isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return boundsOf(op->getOperand(0));
  if (mlir::isa<arith::AddIOp, arith::SubIOp>(op))
    return isWide(value.getType()) ? boundsOf(LinearForm(value)) : Bounds();
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    Bounds a = boundsOf(choice.getTrueValue()), b = boundsOf(choice.getFalseValue());
    return {a.least && b.least ? Bound(std::min(*a.least, *b.least)) : std::nullopt,
            a.most && b.most ? Bound(std::max(*a.most, *b.most)) : std::nullopt};
  }
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return {};
  Bounds a = boundsOf(op->getOperand(0)), b = boundsOf(op->getOperand(1));
  auto both = [](Bound x, Bound y, bool least) {
    return x && y ? Bound(least ? std::min(*x, *y) : std::max(*x, *y)) : std::nullopt;
  };
  auto either = [&](Bound x, Bound y, bool least) { return x && y ? both(x, y, least) : x ? x : y; };
  if (mlir::isa<arith::MinSIOp>(op))
    return {both(a.least, b.least, true), either(a.most, b.most, true)};
  if (mlir::isa<arith::MaxSIOp>(op))
    return {either(a.least, b.least, false), both(a.most, b.most, false)};
  bool positive = a.least && *a.least >= 0 && b.least && *b.least > 0;
  if (mlir::isa<arith::MulIOp>(op) && isWide(value.getType()) && a.least && *a.least >= 0 && b.least && *b.least >= 0)
    return {times(a.least, b.least), times(a.most, b.most)};
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op) && positive)
    return {0, a.most ? Bound(*a.most / *b.least) : std::nullopt};
  if (mlir::isa<arith::RemSIOp, arith::RemUIOp>(op) && positive)
    return {0, either(a.most, b.most ? Bound(*b.most - 1) : std::nullopt, true)};
  return {};
}

Bounds boundsOf(Value value) {
  Bounds bounds = boundsByOp(value);
  auto type = dyn_cast<IntegerType>(value.getType());
  if (!type || type.getWidth() >= 64 || type.getWidth() == 1 || type.isUnsigned())
    return bounds;
  int64_t most = llvm::maxIntN(type.getWidth());
  return {std::max(bounds.least.value_or(-most - 1), -most - 1), std::min(bounds.most.value_or(most), most)};
}

static Bound boundOf(const LinearForm &form, bool most);

/// Of a sum with a product: it is greatest (or least) where one factor is at an end of its range. Nothing where neither
/// has two ends.
static Bound boundWithProduct(const LinearForm &form, bool most, Value product, int64_t coefficient) {
  Operation *op = product.getDefiningOp();
  for (unsigned i : {0, 1}) {
    Bounds ends = boundsOf(op->getOperand(i));
    if (!ends.least || !ends.most)
      continue;
    Bound worst;
    for (int64_t end : {*ends.least, *ends.most}) {
      LinearForm with = form;
      with.terms.erase(product);
      with.add(op->getOperand(1 - i), coefficient * end);
      Bound found = boundOf(with, most);
      if (!found)
        return std::nullopt;
      worst = !worst ? found : most ? std::max(*worst, *found) : std::min(*worst, *found);
    }
    return worst;
  }
  return std::nullopt;
}

/// Of a sum with the smaller (or greater) of two values, the bound with either of them holds.
static Bound boundOf(const LinearForm &form, bool most) {
  for (auto [value, coefficient] : form.terms) {
    Operation *op = value.getDefiningOp();
    bool isBound = op && (most == (coefficient > 0) ? mlir::isa<arith::MinSIOp>(op) : mlir::isa<arith::MaxSIOp>(op));
    if (!isBound)
      continue;
    Bound best;
    for (Value operand : op->getOperands()) {
      LinearForm with = form;
      with.terms.erase(value);
      with.add(operand, coefficient);
      Bound found = boundOf(with, most);
      if (found && (!best || (most ? *found < *best : *found > *best)))
        best = found;
    }
    return best;
  }
  int64_t sum = form.constant;
  for (auto [value, coefficient] : form.terms) {
    Bounds bounds = boundsOf(value);
    Bound bound = most == (coefficient > 0) ? bounds.most : bounds.least;
    if (!bound)
      return value.getDefiningOp<arith::MulIOp>() && isWide(value.getType())
                 ? boundWithProduct(form, most, value, coefficient)
                 : std::nullopt;
    sum += *bound * coefficient;
  }
  return sum;
}

Bounds boundsOf(const LinearForm &form) { return {boundOf(form, false), boundOf(form, true)}; }

int64_t divisorOf(const LinearForm &form) {
  int64_t divisor = std::abs(form.constant);
  for (auto [value, coefficient] : form.terms) {
    int64_t each = 1;
    auto argument = dyn_cast<BlockArgument>(value);
    auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (loop && argument == loop.getInductionVar())
      if (auto step = getConstantIntValue(loop.getStep()))
        each = std::gcd(*step, divisorOf(LinearForm(loop.getLowerBound())));
    divisor = std::gcd(divisor, coefficient * each);
  }
  return divisor;
}

} // namespace pto_mlir::pypto_frontend
