//===- Normalize.cpp - shapes that suit two-dimensional tiles -------------===//
//
// Kernel arguments are contiguous, so unit dimensions can go and dimensions that
// are adjacent in every operand can be one. What is left of a kernel without
// broadcasts is a vector; a broadcast leaves rows and columns.
//
//===----------------------------------------------------------------------===//

#include "../Reshapes.h"
#include "Domain.h"
#include "Phases.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

bool isWindowOp(Operation *op) {
  return isa<linalg::DepthwiseConv2DNhwcHwcOp, linalg::PoolingNhwcMaxOp, linalg::PoolingNhwcSumOp>(op);
}

/// The argument in the shape that `returned` had before its final reshapes, which
/// are looked through.
static Value reshapeLike(OpBuilder &builder, Value argument, Value &returned) {
  auto expand = returned.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return argument;
  builder.setInsertionPoint(expand);
  returned = expand.getSrc();
  Value collapsed = builder.create<tensor::CollapseShapeOp>(expand.getLoc(), expand.getSrcType(), argument,
                                                            expand.getReassociationIndices());
  if (auto *op = returned.getDefiningOp(); op && isa<tensor::ExpandShapeOp>(op))
    return reshapeLike(builder, collapsed, returned);
  // It must stand before every op of the destination chain.
  Block *entry = expand->getBlock();
  collapsed.getDefiningOp()->moveBefore(&entry->front());
  return collapsed;
}

void connectDestinations(func::FuncOp func) {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  unsigned firstOutput = func.getNumArguments() - ret.getNumOperands();
  OpBuilder builder(func.getContext());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    Value returned = value, argument = func.getArgument(firstOutput + i);
    if (argument.getType() != returned.getType())
      continue;
    argument = reshapeLike(builder, argument, returned);
    auto op = returned.getDefiningOp<linalg::LinalgOp>();
    // What computes its operand again has been folded away.
    if (isa<BlockArgument>(returned) && returned != argument) {
      builder.setInsertionPoint(ret);
      ret.setOperand(i, copyOfRows(builder, ret.getLoc(), value, func.getArgument(firstOutput + i)));
      continue;
    }
    if (!op)
      continue;
    OpOperand *init = op.getTiedOpOperand(cast<OpResult>(returned));
    if (!op.payloadUsesValueFromOperand(init)) {
      if (init->get().getDefiningOp<tensor::EmptyOp>())
        init->set(argument);
      continue;
    }
    // The initial value is not made in the output either.
    for (Value start = init->get(); auto maker = start.getDefiningOp<linalg::LinalgOp>();) {
      OpOperand *target = maker.getTiedOpOperand(cast<OpResult>(start));
      start = target->get();
      if (start.getDefiningOp<linalg::LinalgOp>() || start.getDefiningOp<tensor::EmptyOp>())
        continue;
      builder.setInsertionPoint(maker);
      auto type = cast<RankedTensorType>(start.getType());
      target->set(builder.create<tensor::EmptyOp>(maker.getLoc(), type.getShape(), type.getElementType()));
      break;
    }
    builder.setInsertionPointAfter(op);
    Value copied = createCopy(builder, op.getLoc(), returned, argument);
    returned.replaceAllUsesExcept(copied, copied.getDefiningOp());
  }
}

namespace {
/// Of one body. Each fusion clones the bodies of both ops, so that one chain would take the square of its length.
constexpr size_t kMostFused = 512;

size_t bodySize(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic ? generic.getBody()->getOperations().size() : 0;
}

/// Elementwise ops take the place of their only reader's operand.
bool isFusable(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  return producer && producer->hasOneUse() && !isa<linalg::FillOp>(producer) &&
         bodySize(producer) + bodySize(operand->getOwner()) <= kMostFused;
}

LogicalResult generalize(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> named;
  func.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) && !isWindowOp(op))
      named.push_back(op);
  });
  IRRewriter rewriter(func.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitOpError("has no vector lowering");
  }
  return success();
}

/// Loops of `op` that merge with their right neighbour, for one pair of classes.
bool canMerge(linalg::LinalgOp op, ArrayRef<unsigned> classes, unsigned a, unsigned b) {
  auto countA = llvm::count(classes, a), countB = llvm::count(classes, b);
  if (countA + countB == 0)
    return true;
  if (countA != 1 || countB != 1)
    return false;
  int64_t first = llvm::find(classes, a) - classes.begin();
  if (first + 1 >= (int64_t)classes.size() || classes[first + 1] != b)
    return false;
  auto iterators = op.getIteratorTypesArray();
  if (iterators[first] != iterators[first + 1])
    return false;
  ReassociationIndices sequence = {first, first + 1};
  return llvm::all_of(op.getIndexingMapsArray(),
                      [&](AffineMap map) { return linalg::isDimSequencePreserved(map, sequence); });
}

/// The class of the last dimension of what the kernel returns into `output`, as it is before its reshapes.
std::optional<unsigned> returnedColumnClass(BlockArgument output, const Domain &domain) {
  Operation *ret = output.getOwner()->getTerminator();
  unsigned firstOutput = output.getOwner()->getNumArguments() - ret->getNumOperands();
  if (output.getArgNumber() < firstOutput)
    return std::nullopt;
  Value value = throughReshapes(ret->getOperand(output.getArgNumber() - firstOutput));
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op)
    return std::nullopt;
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(value));
  AffineDimExpr dim = nullptr;
  if (map.getNumResults() != 0)
    dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional(domain.loopClasses(op)[dim.getPosition()]) : std::nullopt;
}

/// The class of the last dimension of `matrix`, as it is behind its reshapes.
std::optional<unsigned> columnClass(BlockArgument argument, const Domain &domain) {
  if (auto cls = returnedColumnClass(argument, domain))
    return cls;
  Value matrix = argument;
  while (matrix.hasOneUse() && isReshape(*matrix.user_begin()))
    matrix = (*matrix.user_begin())->getResult(0);
  for (OpOperand &use : matrix.getUses())
    if (auto op = dyn_cast<linalg::LinalgOp>(use.getOwner())) {
      AffineMap map = op.getMatchingIndexingMap(&use);
      if (map.getNumResults() != 0)
        if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
          return domain.loopClasses(op)[dim.getPosition()];
    }
  return std::nullopt;
}

/// Classes of dimensions that stay apart: the last one of argument `matrix`, and of those whose rows have a pitch.
llvm::SmallDenseSet<unsigned> columnClasses(func::FuncOp func, std::optional<unsigned> matrix, const Domain &domain) {
  llvm::SmallDenseSet<unsigned> columns;
  auto pitches = func->getAttrOfType<DenseI64ArrayAttr>(pto::kPitchesAttr);
  for (BlockArgument argument : func.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (matrix == number || (pitches && number < pitches.size() && pitches[number] != 0))
      if (std::optional<unsigned> cls = columnClass(argument, domain))
        columns.insert(*cls);
  }
  return columns;
}

LogicalResult mergeDimensions(func::FuncOp func, std::optional<unsigned> matrix) {
  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  Domain domain(ops);
  llvm::SmallDenseSet<unsigned> columns = columnClasses(func, matrix, domain);
  llvm::DenseMap<std::pair<unsigned, unsigned>, bool> merge;
  auto merges = [&](unsigned a, unsigned b) {
    auto [entry, isNew] = merge.try_emplace({a, b}, false);
    if (isNew)
      entry->second =
          a != b && !columns.contains(a) && !columns.contains(b) &&
          llvm::all_of(ops, [&](linalg::LinalgOp op) { return canMerge(op, domain.loopClasses(op), a, b); });
    return entry->second;
  };
  // All questions come before the first answer is carried out: they look at every op.
  SmallVector<SmallVector<ReassociationIndices>> groupsOf;
  for (linalg::LinalgOp op : ops) {
    SmallVector<unsigned> classes = domain.loopClasses(op);
    SmallVector<ReassociationIndices> &groups = groupsOf.emplace_back();
    for (auto [i, cls] : llvm::enumerate(classes)) {
      if (i == 0 || !merges(classes[i - 1], cls))
        groups.emplace_back();
      groups.back().push_back(i);
    }
  }
  mergeRowsAlike(func, ops, groupsOf);
  IRRewriter rewriter(func.getContext());
  for (auto [op, groups] : llvm::zip_equal(ops, groupsOf)) {
    if (groups.size() == op.getNumLoops())
      continue;
    // Collapsing knows generic ops; a fill is one.
    if (!isa<linalg::GenericOp>(op.getOperation())) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic))
        return op->emitOpError("has no vector lowering");
      op = cast<linalg::LinalgOp>(generic->getOperation());
    }
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, groups, rewriter);
    if (failed(collapsed))
      return op->emitOpError("cannot merge adjacent dimensions");
    rewriter.replaceOp(op, collapsed->results);
  }
  return success();
}
} // namespace

LogicalResult normalizeShapes(func::FuncOp func, const PhaseContext &context, std::optional<unsigned> matrix) {
  if (failed(generalize(func)))
    return failure();
  bool hasWindow =
      func.walk([](Operation *op) { return isWindowOp(op) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  auto apply = [&](RewritePatternSet &&patterns) { return applyPatternsAndFoldGreedily(func, std::move(patterns)); };
  RewritePatternSet fusion(func.getContext());
  linalg::populateElementwiseOpsFusionPatterns(fusion, isFusable);
  if (failed(apply(std::move(fusion))))
    return failure();
  widenBodies(func);
  RewritePatternSet rounded(func.getContext());
  populateRoundedPatterns(rounded);
  if (failed(apply(std::move(rounded))))
    return failure();
  // Functions without an instruction, where it is known what is computed with them.
  RewritePatternSet functions(func.getContext());
  populateFunctionPatterns(functions);
  if (failed(apply(std::move(functions))))
    return failure();
  // A window's rows and columns are found by their position in N, H, W, C.
  if (hasWindow)
    return cleanUp(func, context);
  RewritePatternSet units(func.getContext());
  linalg::ControlDropUnitDims control;
  linalg::populateFoldUnitExtentDimsPatterns(units, control);
  if (failed(apply(std::move(units))) || failed(cleanUp(func, context)) || failed(mergeDimensions(func, matrix)))
    return failure();
  return cleanUp(func, context);
}

} // namespace pto_mlir::vector_kernels
