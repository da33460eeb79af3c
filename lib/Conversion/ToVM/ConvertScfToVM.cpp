// convert-scf-to-vm: structured control flow to blocks, then blocks and functions to vm.
#include "Calls.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "pto_mlir/Conversion/ToVM/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "convert-scf-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTSCFTOVM
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

namespace {

void convertBranch(Operation *op, RewriterBase &rewriter) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](cf::BranchOp branch) {
        rewriter.replaceOpWithNewOp<vm::BranchOp>(op, branch.getDestOperands(), branch.getDest());
      })
      .Case([&](cf::CondBranchOp branch) {
        rewriter.replaceOpWithNewOp<vm::CondBranchOp>(op, branch.getCondition(), branch.getTrueDestOperands(),
                                                      branch.getFalseDestOperands(), branch.getTrueDest(),
                                                      branch.getFalseDest());
      })
      .Case([&](cf::AssertOp check) {
        rewriter.replaceOpWithNewOp<vm::AssertOp>(op, check.getArg(), check.getMsgAttr());
      });
}

void convertFunc(Operation *op, RewriterBase &rewriter) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](func::ReturnOp end) { rewriter.replaceOpWithNewOp<vm::ReturnOp>(op, end.getOperands()); })
      .Case([&](func::CallOp call) {
        rewriter.replaceOpWithNewOp<vm::CallOp>(op, call.getResultTypes(), call.getCallee(), call.getOperands(),
                                                IntegerAttr());
      });
}

struct ConvertScfToVM : impl::ConvertScfToVMBase<ConvertScfToVM> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertScfToVMBase::getDependentDialects(registry);
    vm::registerProgramOps(registry);
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addIllegalOp<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp, scf::ExecuteRegionOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    forEachOp(getOperation(), "cf", [](Operation *op, RewriterBase &rewriter) {
      PTO_DEBUG(op->getName() << " at " << op->getLoc());
      convertBranch(op, rewriter);
    });
    forEachOp(getOperation(), "func", convertFunc);
  }
};

} // namespace
} // namespace pto_mlir
