//===- MergeSizes.cpp - several sizes at run time as one ------------------===//

#include "MergeSizes.h"

#include "../Sizes/SizeAnalysis.h"
#include "OpRole.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace pto_mlir::kernels {

namespace {

/// The loops of `op`, those known at run time together where every operand has all of them or none; loops of one step
/// between them join.
SmallVector<ReassociationIndices> groupLoops(linalg::LinalgOp op, ArrayRef<AffineExpr> loops) {
  auto iterators = op.getIteratorTypesArray();
  auto isSize = [&](int64_t loop) { return !isa<AffineConstantExpr>(loops[loop]); };
  auto merges = [&](const ReassociationIndices &group) {
    return llvm::all_of(group, [&](int64_t i) { return iterators[i] == utils::IteratorType::parallel; }) &&
           llvm::all_of(op.getIndexingMapsArray(),
                        [&](AffineMap map) { return linalg::isDimSequencePreserved(map, group); });
  };
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < int64_t(loops.size()); ++i) {
    ReassociationIndices group{i};
    int64_t end = i + 1;
    for (int64_t next = i + 1; isSize(i) && next < int64_t(loops.size()); ++next) {
      if (isSize(next)) {
        ReassociationIndices longer = llvm::to_vector(llvm::seq<int64_t>(i, next + 1));
        if (!merges(longer))
          break;
        group = longer, end = next + 1;
      } else if (loops[next] != getAffineConstantExpr(1, op.getContext())) {
        break;
      }
    }
    groups.push_back(group);
    i = end - 1;
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
    // The attention kernel takes the extension of its result.
    if (!linalgOp || (isExtension(linalgOp) && linalgOp.getInputs()[0].getDefiningOp<top::AttentionOp>()))
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
