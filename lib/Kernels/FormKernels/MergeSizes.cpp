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

/// The first input that has all loops of `op`, in order, and is no weight; null: none.
OpOperand *wholeInput(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isIdentity() && !input->get().getDefiningOp<top::WeightOp>())
      return input;
  return nullptr;
}

/// What `value` is computed from elementwise, of the same shape: its rows tell the extents, and `value` need not be
/// stored for them.
Value shapeSource(Value value) {
  while (auto op = value.getDefiningOp<linalg::GenericOp>()) {
    if (op.getNumLoops() != op.getNumParallelLoops() ||
        !op.getIndexingMapMatchingResult(cast<OpResult>(value)).isIdentity())
      break;
    OpOperand *source = wholeInput(op);
    if (!source)
      break;
    value = source->get();
  }
  return value;
}

/// Makes operands that lack the outer size of `op` but have the next one rows of their own for each outer index, so
/// that both sizes can be one. Their other dimensions are those of the loops, behind dimensions of one element.
void repeatRows(linalg::GenericOp op, ArrayRef<AffineExpr> loops, OpBuilder &builder) {
  unsigned rank = loops.size();
  if (rank < 2 || isa<AffineConstantExpr>(loops[0]) || isa<AffineConstantExpr>(loops[1]))
    return;
  OpOperand *whole = wholeInput(op);
  if (!whole)
    return;
  Value like = shapeSource(whole->get());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap rows = AffineMap::getMultiDimIdentityMap(rank, op.getContext()).dropResult(0);
  bool changed = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!type || !map.isFunctionOfDim(1) || map.isFunctionOfDim(0))
      continue;
    // [1, length, width] or [length, width]
    unsigned ones = map.getNumResults() + 1 - rank;
    if (map.getNumResults() + 1 < rank || map.getSliceMap(ones, rank - 1) != rows ||
        llvm::any_of(type.getShape().take_front(ones), [](int64_t extent) { return extent != 1; }))
      continue;
    Value value = input->get();
    if (ones) {
      SmallVector<ReassociationIndices> groups(1);
      for (unsigned dim = 0; dim < type.getRank(); ++dim) {
        if (dim > ones)
          groups.emplace_back();
        groups.back().push_back(dim);
      }
      value = builder.create<tensor::CollapseShapeOp>(op.getLoc(), value, groups);
    }
    auto target = RankedTensorType::get(cast<RankedTensorType>(like.getType()).getShape(), type.getElementType());
    input->set(builder.create<top::RepeatRowsOp>(op.getLoc(), target, value, like));
    maps[input->getOperandNumber()] = AffineMap::getMultiDimIdentityMap(rank, op.getContext());
    changed = true;
  }
  if (changed)
    op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

/// Of all ops of `main`.
LogicalResult repeatRows(func::FuncOp main) {
  SizeAnalysis analysis = SizeAnalysis::ofMain(main);
  SmallVector<std::pair<linalg::GenericOp, Sizes>> generics;
  for (Operation &op : main.getBody().front()) {
    if (failed(analysis.visit(&op)))
      return failure();
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      generics.push_back({generic, analysis.ofLoops(generic)});
  }
  for (auto &[generic, loops] : generics) {
    OpBuilder builder(generic);
    repeatRows(generic, loops, builder);
  }
  return success();
}

} // namespace

LogicalResult mergeSizes(func::FuncOp main) {
  auto symbols = main->getAttrOfType<ArrayAttr>(top::kSymbolsAttr);
  if (!symbols || symbols.size() < 2)
    return success();
  if (failed(repeatRows(main)))
    return failure();
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
