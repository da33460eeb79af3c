//===- DropSigns.cpp - unsigned scalars to the signless types of arith --------------------------===//

#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "pto-drop-signs"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTODROPSIGNS
#include "pto_mlir/Frontend/PTO/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;

static Type dropSign(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSignless() ? IntegerType::get(type.getContext(), integer.getWidth()) : type;
}

namespace {
struct DropSignsPass : pto_mlir::pto::impl::PTODropSignsBase<DropSignsPass> {
  void runOnOperation() override {
    unsigned numCasts = 0;
    getOperation().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            argument.setType(dropSign(argument.getType()));
      for (Value result : op->getResults())
        result.setType(dropSign(result.getType()));
      if (auto func = dyn_cast<func::FuncOp>(op); func && !func.isExternal())
        func.setType(FunctionType::get(op->getContext(), func.getBody().front().getArgumentTypes(),
                                       llvm::map_to_vector(func.getResultTypes(), dropSign)));
      auto cast = dyn_cast<UnrealizedConversionCastOp>(op);
      if (!cast || cast.getNumOperands() != 1 || cast.getNumResults() != 1 ||
          cast.getOperand(0).getType() != cast.getResult(0).getType())
        return;
      cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
      cast.erase();
      ++numCasts;
    });
    PTO_DEBUG(numCasts << " casts between signs erased");
  }
};
} // namespace
