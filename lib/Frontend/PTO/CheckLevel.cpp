//===- CheckLevel.cpp - reject ops that the level of a .pto does not allow ---------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#define DEBUG_TYPE "pto-check-level"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOCHECKLEVEL
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// Checks that kernels have no results and that there is no recursion.
static LogicalResult checkFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> defined;
  for (auto func : module.getOps<func::FuncOp>()) {
    bool entry = func->hasAttr("pto.entry") || func->hasAttr("hacc.entry");
    if (entry && func.isExternal())
      return func.emitError("a kernel needs a body, this function has none");
    if (!func.isExternal())
      defined.push_back(func);
  }
  for (func::FuncOp func : defined) {
    bool entry = func->hasAttr("pto.entry") || func->hasAttr("hacc.entry") || defined.size() == 1;
    if (entry && func.getNumResults() != 0)
      return func.emitError("a kernel returns nothing, this one has ") << func.getNumResults() << " results";
    // A depth-first search from `func`: reaching it again is recursion.
    llvm::SmallPtrSet<Operation *, 8> seen;
    SmallVector<func::FuncOp> open = {func};
    while (!open.empty()) {
      Operation *circle = nullptr;
      open.pop_back_val().walk([&](func::CallOp call) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (callee == func)
          circle = call;
        else if (callee && seen.insert(callee).second)
          open.push_back(callee);
      });
      if (circle)
        return circle->emitOpError("calls @")
               << func.getName() << ", which this call is part of; kernels cannot recurse";
    }
  }
  return success();
}

/// Of alloc_tile and alloc_multi_tile.
static LogicalResult checkAddress(Operation *op, Value address, int64_t level) {
  if (level < 3 && address)
    return op->emitOpError("has an address, which level ") << level << " leaves to the planner; --level 3 takes it";
  if (!address && !op->getParentOfType<func::FuncOp>())
    return op->emitOpError("stands outside of a function and needs an address (addr = %a): the planner looks at "
                           "functions");
  if (level == 3 && !address)
    return op->emitOpError("needs an address (addr = %a) at level 3; --level 2 plans addresses");
  return success();
}

static LogicalResult checkOp(Operation *op, int64_t level) {
  if (auto alloc = dyn_cast<AllocTileOp>(op))
    return checkAddress(op, alloc.getAddr(), level);
  if (auto alloc = dyn_cast<AllocMultiTileOp>(op))
    return checkAddress(op, alloc.getAddr(), level);
  if (isa<memref::AllocOp, memref::AllocaOp>(op) && level == 3)
    if (auto space = dyn_cast_or_null<AddressSpaceAttr>(cast<MemRefType>(op->getResult(0).getType()).getMemorySpace());
        space && space.getValue() != AddressSpace::gm && space.getValue() != AddressSpace::zero)
      return op->emitOpError("has no address at level 3, pto.pointer_cast has one; --level 2 plans addresses");
  if (isa<TAssignOp>(op) && level < 3)
    return op->emitOpError("is only allowed at level 3");
  if (auto reserve = dyn_cast<ReserveBufferOp>(op); reserve && level < 3 && !reserve.getAutoAlloc())
    return op->emitOpError("has a base, which level ") << level << " leaves to the planner; --level 3 takes it";
  return success();
}

namespace {
struct CheckLevelPass : pto_mlir::pto::impl::PTOCheckLevelBase<CheckLevelPass> {
  using PTOCheckLevelBase::PTOCheckLevelBase;

  void runOnOperation() override {
    if (level < 1 || level > 3) {
      getOperation().emitError() << "level must be 1, 2 or 3, got " << level.getValue();
      return signalPassFailure();
    }
    PTO_DEBUG("checks as level " << level.getValue());
    WalkResult result = getOperation().walk([&](Operation *op) { return WalkResult(checkOp(op, level)); });
    if (result.wasInterrupted() || failed(checkFunctions(getOperation())))
      signalPassFailure();
  }
};
} // namespace
