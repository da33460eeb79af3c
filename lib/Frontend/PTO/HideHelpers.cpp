//===- HideHelpers.cpp - make called functions private ---------------------------===//

#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOHIDEHELPERS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;

namespace {
struct HideHelpersPass : pto_mlir::pto::impl::PTOHideHelpersBase<HideHelpersPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([&](func::CallOp call) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && !callee->hasAttr("pto.entry") && !callee->hasAttr("hacc.entry"))
        callee.setPrivate();
    });
  }
};
} // namespace
