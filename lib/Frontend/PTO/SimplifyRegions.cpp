//===- SimplifyRegions.cpp - structured regions to scf.for and scf.if --------------------------===//

#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#define DEBUG_TYPE "pto-simplify-regions"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOSIMPLIFYREGIONS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;

/// Inlines the op's only block before the op; returns the yielded values.
static SmallVector<Value> openBlock(Region &region, Operation *op) {
  Block &block = region.front();
  Operation *yield = block.getTerminator();
  SmallVector<Value> values(yield->getOperands());
  yield->erase();
  op->getBlock()->getOperations().splice(Block::iterator(op), block.getOperations());
  return values;
}

static void openRegion(scf::ExecuteRegionOp op) {
  op->replaceAllUsesWith(openBlock(op.getRegion(), op));
  op.erase();
}

/// Lowers the switch to a chain of scf.if, one per case.
static void chainCases(scf::IndexSwitchOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto moveInto = [](Region &from, Region &to) {
    to.getBlocks().clear();
    to.takeBody(from);
  };
  // Build the innermost scf.if, the last case, first.
  scf::IfOp inner;
  Region *otherwise = &op.getDefaultRegion();
  bool hasDefault = llvm::range_size(otherwise->front()) > 1 || op.getNumResults() != 0;
  for (auto [value, region] : llvm::reverse(llvm::zip(op.getCases(), op.getCaseRegions()))) {
    b.setInsertionPoint(inner ? inner.getOperation() : op.getOperation());
    Value key = b.create<arith::ConstantIndexOp>(loc, value);
    Value hit = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, op.getArg(), key);
    bool withElse = inner || hasDefault;
    auto branch = b.create<scf::IfOp>(loc, op.getResultTypes(), hit, /*addThenBlock=*/true, /*addElseBlock=*/withElse);
    moveInto(region, branch.getThenRegion());
    if (inner) {
      Block *block = branch.elseBlock();
      if (!block->empty())
        block->back().erase();
      // The inner condition is pure, so it may be computed before the chain.
      inner->moveBefore(block, block->end());
      b.setInsertionPointToEnd(block);
      b.create<scf::YieldOp>(loc, inner->getResults());
    } else if (hasDefault) {
      moveInto(*otherwise, branch.getElseRegion());
    }
    inner = branch;
  }
  if (inner)
    op->replaceAllUsesWith(inner->getResults());
  else
    op->replaceAllUsesWith(openBlock(*otherwise, op));
  op.erase();
}

namespace {
struct SimplifyRegionsPass : pto_mlir::pto::impl::PTOSimplifyRegionsBase<SimplifyRegionsPass> {
  void runOnOperation() override {
    // Post-order, so that no op is visited after it has been moved.
    getOperation().walk([](Operation *op) {
      if (isa<scf::ExecuteRegionOp, scf::IndexSwitchOp>(op))
        PTO_DEBUG(op->getName() << " at " << op->getLoc());
      if (auto region = dyn_cast<scf::ExecuteRegionOp>(op); region && region.getRegion().hasOneBlock())
        openRegion(region);
      else if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
        chainCases(choice);
    });
  }
};
} // namespace
