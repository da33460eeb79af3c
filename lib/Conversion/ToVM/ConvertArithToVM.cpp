// convert-arith-to-vm.
#include "Calls.h"
#include "pto_mlir/Conversion/ToVM/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "convert-arith-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTARITHTOVM
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

namespace {

/// The VM instruction of a binary op on scalars; empty when there is none.
StringRef instructionOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().stripDialect())
      .Case("addi", "iadd")
      .Case("subi", "isub")
      .Case("muli", "imul")
      .Case("divsi", "idiv")
      .Case("remsi", "irem")
      .Case("divui", "idivu")
      .Case("remui", "iremu")
      .Case("floordivsi", "ifloordiv")
      .Case("ceildivsi", "iceildiv")
      .Case("minsi", "imin")
      .Case("maxsi", "imax")
      .Case("minui", "iminu")
      .Case("maxui", "imaxu")
      .Case("andi", "iand")
      .Case("ori", "ior")
      .Case("xori", "ixor")
      .Case("shli", "ishl")
      .Case("shrsi", "ishr")
      .Case("shrui", "ishru")
      .Case("addf", "fadd")
      .Case("subf", "fsub")
      .Case("mulf", "fmul")
      .Case("divf", "fdiv")
      .Case("remf", "frem")
      .Case("minimumf", "fmin")
      .Case("maximumf", "fmax")
      .Default("");
}

void convertNumbers(Operation *op, RewriterBase &rewriter) {
  Type type = op->getResult(0).getType();
  if (StringRef kind = instructionOf(op); !kind.empty()) {
    // The VM has no i1 arithmetic other than logic.
    if (type.isInteger(1) && kind != "iand" && kind != "ior" && kind != "ixor")
      return;
    rewriter.replaceOpWithNewOp<vm::BinaryOp>(op, type, kind, op->getOperand(0), op->getOperand(1));
    return;
  }
  auto convert = [&](bool isUnsigned) {
    rewriter.replaceOpWithNewOp<vm::ConvertOp>(op, type, op->getOperand(0), isUnsigned);
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::CmpIOp compare) {
        rewriter.replaceOpWithNewOp<vm::CompareOp>(op, type, int64_t(compare.getPredicate()), compare.getLhs(),
                                                   compare.getRhs());
      })
      .Case([&](arith::CmpFOp compare) {
        rewriter.replaceOpWithNewOp<vm::CompareOp>(op, type, int64_t(compare.getPredicate()), compare.getLhs(),
                                                   compare.getRhs());
      })
      .Case([&](arith::NegFOp) { rewriter.replaceOpWithNewOp<vm::NegateOp>(op, type, op->getOperand(0)); })
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::SIToFPOp, arith::FPToSIOp, arith::ExtFOp, arith::TruncFOp,
            arith::IndexCastOp>([&](auto) { convert(/*isUnsigned=*/false); })
      .Case<arith::ExtUIOp, arith::UIToFPOp, arith::FPToUIOp, arith::IndexCastUIOp>(
          [&](auto) { convert(/*isUnsigned=*/true); });
}

struct ConvertArithToVM : impl::ConvertArithToVMBase<ConvertArithToVM> {
  void getDependentDialects(DialectRegistry &registry) const override { vm::registerProgramOps(registry); }

  void runOnOperation() override {
    forEachOp(getOperation(), "arith", [](Operation *op, RewriterBase &rewriter) {
      PTO_DEBUG(op->getName() << " at " << op->getLoc());
      if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
        if (Value value = makeConstant(rewriter, op->getLoc(), constant.getValue()))
          rewriter.replaceOp(op, value);
        return;
      }
      if (auto select = dyn_cast<arith::SelectOp>(op); select && select.getCondition().getType().isInteger(1)) {
        if (isVMNumber(select.getType()) || isa<RankedTensorType>(select.getType()))
          rewriter.replaceOpWithNewOp<vm::SelectOp>(op, select.getType(), select.getCondition(), select.getTrueValue(),
                                                    select.getFalseValue());
        return;
      }
      if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()))
        (void)replaceWithCall(rewriter, op, "device", {"fastmath", "overflowFlags"});
      else if (op->getNumResults() == 1 && llvm::all_of(op->getOperandTypes(), isVMNumber) &&
               isVMNumber(op->getResult(0).getType()))
        convertNumbers(op, rewriter);
    });
  }
};

} // namespace
} // namespace pto_mlir
