//===- HideHelpers.cpp - make called functions private ---------------------------===//

#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "pto-hide-helpers"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOHIDEHELPERS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;

namespace {
struct HideHelpersPass : pto_mlir::pto::impl::PTOHideHelpersBase<HideHelpersPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    unsigned numHelpers = 0;
    module.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && !callee->hasAttr("pto.entry") && !callee->hasAttr("hacc.entry"))
        callee.setPrivate(), ++numHelpers;
    });
    PTO_DEBUG(numHelpers << " calls of helpers");
  }
};
} // namespace
