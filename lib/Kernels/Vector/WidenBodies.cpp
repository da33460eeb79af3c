//===- WidenBodies.cpp - keep f32 between the ops of a fused body ---------===//
//
// A body that fusion has put together rounds to the storage type wherever a tensor
// used to be stored. A body that would round more than once computes in f32 instead, and
// so does an op whose neighbour does: one rounding is left, at the store.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

/// The f32 value that storage would round; null for anything else, a rounding that the model asks for included.
Value unrounded(Value value) {
  auto rounding = value.getDefiningOp<arith::TruncFOp>();
  return rounding && !rounding.getRoundingmode() && rounding.getIn().getType().isF32() ? rounding.getIn() : Value();
}

bool isNarrow(Type type) { return type.isF16() || type.isBF16(); }

/// Arithmetic on the storage type: narrow in, narrow out (or a comparison).
bool computesNarrow(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::ConstantOp>(op) || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 || !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return false;
  bool narrow = llvm::any_of(op->getOperandTypes(), isNarrow);
  return narrow && (isNarrow(op->getResultTypes()[0]) || isa<arith::CmpFOp>(op));
}

/// Is the narrow result in general not the exact one?
bool rounds(Operation *op) {
  return computesNarrow(op) &&
         !isa<arith::CmpFOp, arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp, arith::NegFOp, math::AbsFOp>(op);
}

/// Does a neighbour of `op` compute in f32?
bool touchesWide(Operation *op) {
  if (llvm::any_of(op->getOperands(), [](Value operand) { return unrounded(operand) != nullptr; }))
    return true;
  Value result = op->getResult(0);
  return isNarrow(result.getType()) && result.hasOneUse() && isa<arith::ExtFOp>(*result.user_begin());
}

void widen(Operation *op, IRRewriter &rewriter) {
  Type f32 = rewriter.getF32Type();
  rewriter.setInsertionPoint(op);
  Operation *wide = rewriter.clone(*op);
  for (OpOperand &operand : wide->getOpOperands()) {
    Value value = operand.get();
    if (!isNarrow(value.getType()))
      continue;
    rewriter.setInsertionPoint(wide);
    if (Value before = unrounded(value)) {
      operand.set(before);
    } else if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
      double number = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
      operand.set(
          rewriter.create<arith::ConstantOp>(op->getLoc(), rewriter.getF32FloatAttr(static_cast<float>(number))));
    } else {
      operand.set(rewriter.create<arith::ExtFOp>(op->getLoc(), f32, value));
    }
  }
  Value result = wide->getResult(0);
  if (isNarrow(result.getType())) {
    Type narrow = result.getType();
    result.setType(f32);
    rewriter.setInsertionPointAfter(wide);
    result = rewriter.create<arith::TruncFOp>(op->getLoc(), narrow, result);
  }
  rewriter.replaceOp(op, result);
}

/// One pass down the body; returns whether it changed anything.
bool widenOnce(Block &body, IRRewriter &rewriter) {
  bool changed = false;
  bool all = llvm::count_if(body, [](Operation &op) { return rounds(&op); }) > 1;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    auto extension = dyn_cast<arith::ExtFOp>(op);
    Value before = extension ? unrounded(extension.getIn()) : Value();
    if (before && before.getType() == extension.getType()) {
      rewriter.replaceOp(extension, before);
      changed = true;
    } else if (computesNarrow(&op) && (all || touchesWide(&op))) {
      widen(&op, rewriter);
      changed = true;
    }
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  return changed;
}

} // namespace

void widenBodies(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  func.walk([&](linalg::GenericOp op) {
    // An extension further down makes what is above it wide, so until nothing changes.
    while (widenOnce(*op.getBlock(), rewriter)) {
    }
  });
}

} // namespace pto_mlir::vector_kernels
