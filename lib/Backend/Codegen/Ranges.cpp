//===- Ranges.cpp - What the making of an integer says about its value ----===//

#include "Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pto_mlir::backend {

static scf::ForOp loopOf(mlir::Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && loop.getInductionVar() == value ? loop : scf::ForOp();
}

bool isNonNegative(mlir::Value value) {
  if (auto constant = constantOf(value))
    return *constant >= 0;
  if (auto loop = loopOf(value))
    return isNonNegative(loop.getLowerBound());
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto both = [&] { return isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1)); };
  if (llvm::isa<pto::GetBlockIdxOp, pto::GetBlockNumOp, pto::GetSubBlockIdxOp, pto::GetSubBlockNumOp,
                pto::GetTensorViewDimOp, arith::CmpIOp, arith::ExtUIOp>(op))
    return true;
  if (llvm::isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp>(op))
    return isNonNegative(op->getOperand(0));
  if (llvm::isa<arith::AddIOp, arith::MulIOp, arith::FloorDivSIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
                arith::RemSIOp, arith::RemUIOp, arith::MinSIOp, arith::MinUIOp>(op))
    return both();
  if (llvm::isa<arith::MaxSIOp>(op))
    return isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1));
  if (llvm::isa<arith::SelectOp>(op))
    return isNonNegative(op->getOperand(1)) && isNonNegative(op->getOperand(2));
  // iv - lb, and ub - iv, of a loop.
  if (auto sub = dyn_cast<arith::SubIOp>(op)) {
    scf::ForOp first = loopOf(sub.getLhs()), second = loopOf(sub.getRhs());
    auto same = [](mlir::Value a, mlir::Value b) {
      return a == b || (constantOf(a) && constantOf(a) == constantOf(b));
    };
    return (first && same(first.getLowerBound(), sub.getRhs())) ||
           (second && same(second.getUpperBound(), sub.getLhs()));
  }
  return false;
}

std::optional<int64_t> upperBound(mlir::Value value) {
  if (auto constant = constantOf(value))
    return constant;
  if (auto loop = loopOf(value)) {
    auto ub = upperBound(loop.getUpperBound());
    return ub ? std::optional(*ub - 1) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (llvm::isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return upperBound(op->getOperand(0));
  if (llvm::isa<arith::CmpIOp>(op))
    return 1;
  if (op->getNumOperands() == 3 && llvm::isa<arith::SelectOp>(op)) {
    auto a = upperBound(op->getOperand(1)), b = upperBound(op->getOperand(2));
    return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  auto a = upperBound(op->getOperand(0)), b = upperBound(op->getOperand(1));
  if (llvm::isa<arith::RemSIOp, arith::RemUIOp>(op))
    return b && *b > 0 ? std::optional(*b - 1) : std::nullopt;
  if (llvm::isa<arith::MinSIOp>(op))
    return a && b ? std::optional(std::min(*a, *b)) : (a ? a : b);
  int64_t result;
  if (llvm::isa<arith::AddIOp>(op) && a && b && !__builtin_add_overflow(*a, *b, &result))
    return result;
  if (llvm::isa<arith::MulIOp>(op) && a && b && isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1)) &&
      !__builtin_mul_overflow(*a, *b, &result))
    return result;
  return std::nullopt;
}

} // namespace pto_mlir::backend
