//===- BindBlocks.cpp - constants for block queries ------------------------------------===//

#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "pto-bind-blocks"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOBINDBLOCKS
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

namespace {

/// The value of a query when `numCore` blocks run this kind of kernel; nothing when cores differ in it.
std::optional<int64_t> knownValue(Operation *op, KernelKind kind, int64_t numCore) {
  int64_t subblocks = kind == KernelKind::vector ? targetOf(op).vectorCores : 1;
  if (llvm::isa<GetBlockNumOp>(op))
    return numCore;
  if (llvm::isa<GetBlockIdxOp>(op) && numCore == 1)
    return 0;
  if (llvm::isa<GetSubBlockNumOp>(op))
    return subblocks;
  if (llvm::isa<GetSubBlockIdxOp>(op) && subblocks == 1)
    return 0;
  return std::nullopt;
}

struct PTOBindBlocks : pto_mlir::pto::impl::PTOBindBlocksBase<PTOBindBlocks> {
  using PTOBindBlocksBase::PTOBindBlocksBase;

  void runOnOperation() override {
    if (numCore == 0)
      return;
    if (numCore < 0) {
      getOperation().emitError() << "num-core must not be negative, got " << numCore.getValue();
      return signalPassFailure();
    }
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      auto kind = func->getAttrOfType<KernelKindAttr>(kKernelKindAttr);
      if (!kind)
        continue;
      PTO_DEBUG("@" << func.getName() << ": " << numCore.getValue() << " blocks");
      func.walk([&](Operation *op) {
        std::optional<int64_t> value = knownValue(op, kind.getValue(), numCore);
        if (!value)
          return;
        OpBuilder builder(op);
        op->getResult(0).replaceAllUsesWith(
            builder.create<arith::ConstantIntOp>(op->getLoc(), *value, op->getResult(0).getType()));
        op->erase();
      });
    }
  }
};

} // namespace
