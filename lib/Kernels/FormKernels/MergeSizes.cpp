//===- MergeSizes.cpp - several sizes at run time as one ------------------===//

#include "MergeSizes.h"

#include "../Sizes/SizeAnalysis.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace pto_mlir::kernels {

namespace {

/// The loops of `op`, neighbours together where both are known at run time and every operand has both or none.
SmallVector<ReassociationIndices> groupLoops(linalg::LinalgOp op, ArrayRef<AffineExpr> loops) {
  SmallVector<ReassociationIndices> groups;
  auto iterators = op.getIteratorTypesArray();
  for (int64_t i = 0; i < int64_t(loops.size()); ++i) {
    bool merges = i > 0 && !isa<AffineConstantExpr>(loops[i - 1]) && !isa<AffineConstantExpr>(loops[i]) &&
                  iterators[i - 1] == utils::IteratorType::parallel && iterators[i] == utils::IteratorType::parallel &&
                  llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
                    return linalg::isDimSequencePreserved(map, ReassociationIndices{i - 1, i});
                  });
    if (!merges)
      groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

} // namespace

LogicalResult mergeSizes(func::FuncOp main) {
  auto symbols = main->getAttrOfType<ArrayAttr>(top::kSymbolsAttr);
  if (!symbols || symbols.size() < 2)
    return success();
  SizeAnalysis analysis = SizeAnalysis::ofMain(main);
  SmallVector<std::pair<linalg::GenericOp, SmallVector<ReassociationIndices>>> merged;
  for (Operation &op : main.getBody().front()) {
    if (failed(analysis.visit(&op)))
      return failure();
    auto linalgOp = dyn_cast<linalg::GenericOp>(op);
    if (!linalgOp)
      continue;
    SmallVector<ReassociationIndices> groups = groupLoops(linalgOp, analysis.ofLoops(linalgOp));
    if (groups.size() < linalgOp.getNumLoops())
      merged.push_back({linalgOp, groups});
  }
  IRRewriter rewriter(main.getContext());
  for (auto &[op, groups] : merged) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, groups, rewriter);
    if (failed(collapsed))
      return op->emitOpError("cannot merge its sizes");
    rewriter.replaceOp(op, collapsed->results);
  }
  // Initial values are made in the merged shape.
  RewritePatternSet patterns(main.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, main.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  if (failed(applyPatternsAndFoldGreedily(main, std::move(patterns))))
    return failure();
  // Readers of one tensor read one reshape of it.
  DominanceInfo dominance(main);
  eliminateCommonSubExpressions(rewriter, dominance, main);
  return success();
}

} // namespace pto_mlir::kernels
