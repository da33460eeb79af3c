//===- BindScales.cpp - bind tiles of scales to their matrix products --------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/Tiles.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"

#define DEBUG_TYPE "pto-bind-scales"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOBINDSCALES
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Merges scales bound to one operand into one tile. Their address is independent of the operand's, since products take
/// the scales as operands.
static LogicalResult bindAddresses(func::FuncOp func) {
  DominanceInfo dominance(func);
  DenseMap<Value, Value> scalesOf;
  SmallVector<TGetScaleAddrOp> ops;
  func.walk([&](TGetScaleAddrOp op) { ops.push_back(op); });
  for (TGetScaleAddrOp op : ops) {
    Value operand = getAliasRoot(op.getSrc()), scales = op.getDst();
    Value &first = scalesOf.try_emplace(operand, scales).first->second;
    if (first != scales) {
      if (first.getType() != scales.getType())
        return op.emitOpError("binds a tile of ")
               << scales.getType() << " where another one of " << first.getType() << " is bound";
      if (!dominance.dominates(first, op))
        return op.emitOpError("binds scales to an operand that another branch binds scales to");
      scales.replaceAllUsesWith(first);
    }
    op.erase();
  }
  return success();
}

namespace {
struct BindScalesPass : pto_mlir::pto::impl::PTOBindScalesBase<BindScalesPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](func::FuncOp func) { return WalkResult(bindAddresses(func)); });
    if (result.wasInterrupted())
      return signalPassFailure();
    // Erase moves into scales without users.
    SmallVector<Operation *> dead;
    getOperation().walk([&](TExtractOp move) {
      auto to = dyn_cast<TileBufType>(move.getDst().getType());
      bool read = llvm::any_of(move.getDst().getUsers(), [&](Operation *user) {
        return !isa<PipeOpInterface>(user) || llvm::is_contained(getTileReads(user), move.getDst());
      });
      if (to && to.getLoc() == AddressSpace::scaling && !read)
        dead.push_back(move);
    });
    PTO_DEBUG(dead.size() << " moves of scales are unused");
    for (Operation *move : dead)
      move->erase();
    getOperation().walk([](AllocTileOp alloc) {
      ScaleUse use = getScaleUse(alloc.getResult());
      if (use != ScaleUse::none && alloc.getTileType().getLoc() == AddressSpace::scaling)
        alloc->setAttr(kScalesAttr, StringAttr::get(alloc.getContext(), use == ScaleUse::left ? "left" : "right"));
    });
  }
};
} // namespace
