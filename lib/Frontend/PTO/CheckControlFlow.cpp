//===- CheckControlFlow.cpp - reject unsupported control flow ---------------------------------===//

#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#define DEBUG_TYPE "pto-check-control-flow"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOCHECKCONTROLFLOW
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;

namespace {
struct CheckControlFlowPass : pto_mlir::pto::impl::PTOCheckControlFlowBase<CheckControlFlowPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      for (Region &region : op->getRegions())
        if (!region.empty() && !region.hasOneBlock())
          return op->emitError("has branches that cannot be made scf.if and scf.while");
      if (isa<scf::ParallelOp>(op))
        return op->emitOpError("has no form in command streams; scf.for, scf.while and scf.if have");
      return WalkResult::advance();
    });
    PTO_DEBUG((result.wasInterrupted() ? "refused" : "all control flow is structured"));
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
