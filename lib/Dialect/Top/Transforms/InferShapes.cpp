// top-infer-shapes: propagates types from operands to results in program order.
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "pto_mlir/Dialect/Top/IR/Control.h"

#define DEBUG_TYPE "top-infer-shapes"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPINFERSHAPES
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"
} // namespace pto_mlir::top

using namespace mlir;
using namespace pto_mlir::top;

namespace {

LogicalResult inferOp(Operation *op) {
  auto inferable = dyn_cast<InferTypeOpInterface>(op);
  if (!inferable || !isa_and_nonnull<TopDialect>(op->getDialect()))
    return success();
  SmallVector<Type> types;
  if (failed(inferable.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
    result.setType(type);
  return success();
}

// In program order; around a region, argument types first, result types after it.
LogicalResult inferBlock(Block &block) {
  for (Operation &op : block) {
    if (op.getNumRegions() == 0) {
      if (failed(inferOp(&op)))
        return failure();
      continue;
    }
    for (mlir::Region &region : op.getRegions()) {
      Block &body = region.front();
      if (auto loop = dyn_cast<LoopOp>(op))
        for (auto [argument, value] : llvm::zip(body.getArguments().drop_front(2), loop.getCarried()))
          argument.setType(value.getType());
      if (auto scan = dyn_cast<ScanOp>(op))
        for (auto [i, argument, value] : llvm::enumerate(body.getArguments(), scan.getInputs()))
          argument.setType(i < scan.getStates() ? value.getType() : Type(rowType(value.getType())));
      if (failed(inferBlock(body)))
        return failure();
    }
    auto types = inferControlTypes(&op, [&](const Twine &reason) { op.emitOpError(reason); });
    if (failed(types))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op.getResults(), *types))
      result.setType(type);
  }
  return success();
}

struct InferShapes : public pto_mlir::top::impl::TopInferShapesBase<InferShapes> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isDeclaration())
        continue;
      PTO_DEBUG("@" << func.getName());
      for (Block &block : func.getBody())
        if (failed(inferBlock(block)))
          return signalPassFailure();
      if (func.getBody().hasOneBlock())
        func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(),
                                               func.getBody().front().getTerminator()->getOperandTypes()));
    }
  }
};

} // namespace
