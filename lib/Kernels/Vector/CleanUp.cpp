//===- CleanUp.cpp - canonicalization between the phases ------------------===//

#include "Phases.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

PhaseContext::PhaseContext(MLIRContext *context, int64_t cores) : cores(cores) {
  RewritePatternSet patterns(context);
  for (StringRef name : {"affine", "arith", "bufferization", "linalg", "scf", "tensor"})
    if (Dialect *dialect = context->getLoadedDialect(name))
      dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    StringRef dialect = op.getDialectNamespace();
    if (llvm::is_contained({"affine", "arith", "linalg", "scf", "tensor"}, dialect))
      op.getCanonicalizationPatterns(patterns, context);
  }
  tensor::populateFoldTensorEmptyPatterns(patterns);
  cleanUpPatterns = FrozenRewritePatternSet(std::move(patterns));
}

int64_t unifiedBufferBudget(Operation *op) { return pto::targetOf(op).tileBytes; }

LogicalResult cleanUp(func::FuncOp func, const PhaseContext &context) {
  if (failed(applyPatternsAndFoldGreedily(func, context.cleanUpPatterns)))
    return func.emitOpError("does not converge under canonicalization");
  func.walk([](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  IRRewriter rewriter(func.getContext());
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
  return success();
}

} // namespace pto_mlir::vector_kernels
