// top-infer-shapes: result types follow operand types, once more from the top.
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

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

struct InferShapes : public pto_mlir::top::impl::TopInferShapesBase<InferShapes> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isDeclaration())
        continue;
      auto walked = func.walk<WalkOrder::PreOrder>(
          [](Operation *op) { return failed(inferOp(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
      if (walked.wasInterrupted())
        return signalPassFailure();
      if (func.getBody().hasOneBlock())
        func.setFunctionType(FunctionType::get(func.getContext(), func.getArgumentTypes(),
                                               func.getBody().front().getTerminator()->getOperandTypes()));
    }
  }
};

} // namespace
