// convert-math-to-vm.
#include "Calls.h"
#include "pto_mlir/Conversion/ToVM/Passes.h"

#define DEBUG_TYPE "convert-math-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTMATHTOVM
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

namespace {

struct ConvertMathToVM : impl::ConvertMathToVMBase<ConvertMathToVM> {
  void getDependentDialects(DialectRegistry &registry) const override { vm::registerProgramOps(registry); }

  void runOnOperation() override {
    forEachOp(getOperation(), "math", [](Operation *op, RewriterBase &rewriter) {
      PTO_DEBUG(op->getName() << " at " << op->getLoc());
      bool onTensors = isa<RankedTensorType>(op->getResult(0).getType());
      (void)replaceWithCall(rewriter, op, onTensors ? "device" : "host", {"fastmath"});
    });
  }
};

} // namespace
} // namespace pto_mlir
