// convert-tosa-to-vm.
#include "Calls.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "pto_mlir/Conversion/ToVM/Passes.h"

#define DEBUG_TYPE "convert-tosa-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTTOSATOVM
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

namespace {

struct ConvertTosaToVM : impl::ConvertTosaToVMBase<ConvertTosaToVM> {
  void getDependentDialects(DialectRegistry &registry) const override { vm::registerProgramOps(registry); }

  void runOnOperation() override {
    forEachOp(getOperation(), "tosa", [](Operation *op, RewriterBase &rewriter) {
      PTO_DEBUG(op->getName() << " at " << op->getLoc());
      if (auto constant = dyn_cast<tosa::ConstOp>(op))
        rewriter.replaceOpWithNewOp<vm::RodataOp>(op, constant.getType(), constant.getValue());
      else
        (void)replaceWithCall(rewriter, op, "device");
    });
  }
};

} // namespace
} // namespace pto_mlir
