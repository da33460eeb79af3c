//===- EstimateScalars.cpp - integers of a core's way through a kernel --------------===//

#include "EstimateWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::pto {

static bool holds(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
  case P::ult:
    return a < b;
  case P::sle:
  case P::ule:
    return a <= b;
  case P::sgt:
  case P::ugt:
    return a > b;
  case P::sge:
  case P::uge:
    return a >= b;
  }
  return false;
}

/// Nullopt unless `op` is arithmetic on two integers, and for a division by zero.
static std::optional<int64_t> combine(Operation *op, int64_t a, int64_t b) {
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return a + b; })
      .Case<arith::SubIOp>([&](auto) { return a - b; })
      .Case<arith::MulIOp>([&](auto) { return a * b; })
      .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) { return std::min(a, b); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) { return std::max(a, b); })
      .Case<arith::AndIOp>([&](auto) { return a & b; })
      .Case<arith::OrIOp>([&](auto) { return a | b; })
      .Case<arith::XOrIOp>([&](auto) { return a ^ b; })
      .Case<arith::ShLIOp>([&](auto) { return a << (b & 63); })
      .Case<arith::ShRSIOp>([&](auto) { return a >> (b & 63); })
      .Case<arith::CmpIOp>([&](auto cmp) { return int64_t(holds(cmp.getPredicate(), a, b)); })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) { return b ? std::optional(a / b) : std::nullopt; })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return b ? std::optional(a % b) : std::nullopt; })
      .Case<arith::FloorDivSIOp>([&](auto) { return b ? std::optional(llvm::divideFloorSigned(a, b)) : std::nullopt; })
      .Case<arith::CeilDivSIOp>([&](auto) { return b ? std::optional(llvm::divideCeilSigned(a, b)) : std::nullopt; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Leaves results unset that depend on unknown values.
bool EstimateWalk::runScalar(Operation *op) {
  auto set = [&](std::optional<int64_t> value) {
    if (value)
      integers[op->getResult(0)] = *value;
    return true;
  };
  if (isa<GetBlockIdxOp>(op))
    return set(place.block);
  if (isa<GetBlockNumOp>(op))
    return set(place.blocks);
  if (isa<GetSubBlockIdxOp>(op))
    return set(place.subblock);
  if (isa<GetSubBlockNumOp>(op))
    return set(place.subblocks);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    if (auto condition = integer(select.getCondition()))
      bind(select.getResult(), *condition ? select.getTrueValue() : select.getFalseValue());
    return true;
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return set(integer(op->getOperand(0)));
  if (op->getNumOperands() == 2 && op->getNumResults() == 1)
    if (auto a = integer(op->getOperand(0)), b = integer(op->getOperand(1)); a && b)
      return set(combine(op, *a, *b));
  return true;
}

} // namespace pto_mlir::pto
