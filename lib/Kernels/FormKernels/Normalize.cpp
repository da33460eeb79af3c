//===- Normalize.cpp - canonical forms for clustering ---------------------===//

#include "Normalize.h"

#include "../Epilogue.h"
#include "DropRoundings.h"
#include "MovementTrees.h"
#include "OpRole.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pto_mlir::kernels {
namespace {

std::optional<double> inlineSplat(Value value) {
  return value.getDefiningOp<arith::ConstantOp>() ? top::getSplat(value) : std::nullopt;
}

// A splat operand becomes a scalar of the body.
struct ScalarizeSplats : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    llvm::SmallDenseMap<unsigned, double> scalars;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (auto splat = inlineSplat(operand->get())) {
        scalars[operand->getOperandNumber()] = *splat;
        continue;
      }
      inputs.push_back(operand->get());
      maps.push_back(op.getMatchingIndexingMap(operand));
    }
    if (scalars.empty() || !op.getBlock()->getOps<tensor::ExtractOp>().empty())
      return rewriter.notifyMatchFailure(op, "no splat operand, or one of a gather");
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    if (!inversePermutation(concatAffineMaps(maps)))
      return rewriter.notifyMatchFailure(op, "a loop's size would be lost");
    auto smaller = rewriter.create<linalg::GenericOp>(op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), maps,
                                                      op.getIteratorTypesArray());
    Block *body = rewriter.createBlock(&smaller.getRegion());
    SmallVector<Value> replacements;
    for (BlockArgument argument : op.getBlock()->getArguments()) {
      auto scalar = scalars.find(argument.getArgNumber());
      if (scalar == scalars.end()) {
        replacements.push_back(body->addArgument(argument.getType(), argument.getLoc()));
        continue;
      }
      Type type = argument.getType();
      TypedAttr attribute = isa<FloatType>(type)
                                ? TypedAttr(rewriter.getFloatAttr(type, scalar->second))
                                : TypedAttr(rewriter.getIntegerAttr(type, static_cast<int64_t>(scalar->second)));
      rewriter.setInsertionPointToEnd(body);
      replacements.push_back(rewriter.create<arith::ConstantOp>(op.getLoc(), attribute));
    }
    rewriter.mergeBlocks(op.getBlock(), body, replacements);
    rewriter.replaceOp(op, smaller.getResults());
    return success();
  }
};

bool dropsOnlyUnits(tensor::CollapseShapeOp collapse) {
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  for (const ReassociationIndices &group : collapse.getReassociationIndices())
    if (llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) > 1)
      return false;
  return true;
}

// collapse(elementwise(x)) -> elementwise(collapse(x)) where only unit
// dimensions vanish and the value has one use.
struct SinkElementwise : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp collapse, PatternRewriter &rewriter) const override {
    auto op = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
    if (!op || op.getNumResults() != 1 || !op->hasOneUse() || !dropsOnlyUnits(collapse))
      return rewriter.notifyMatchFailure(collapse, "does not only drop unit dimensions of a private value");
    if (classify(op) != OpRole::Elementwise || !llvm::all_of(op.getIndexingMapsArray(), readsAllLoops))
      return rewriter.notifyMatchFailure(collapse, "producer broadcasts");
    // A cube kernel's epilogue stays next to its contraction.
    if (llvm::any_of(op.getDpsInputs(),
                     [](Value input) {
                       Operation *producer = input.getDefiningOp();
                       return producer && classify(producer) == OpRole::Cube && (producer->hasOneUse());
                     }) &&
        !op.getBlock()->without_terminator().empty() && Epilogue().take(op))
      return rewriter.notifyMatchFailure(collapse, "belongs to a cube kernel");
    auto collapsed = [&](Value value) -> Value {
      auto type = cast<RankedTensorType>(value.getType());
      auto result = RankedTensorType::get(collapse.getResultType().getShape(), type.getElementType());
      return rewriter.create<tensor::CollapseShapeOp>(collapse.getLoc(), result, value,
                                                      collapse.getReassociationIndices());
    };
    SmallVector<Value> inputs = llvm::map_to_vector(op.getDpsInputs(), collapsed);
    RankedTensorType resultType = collapse.getResultType();
    Value init = rewriter.create<tensor::EmptyOp>(op.getLoc(), resultType.getShape(), resultType.getElementType());
    SmallVector<AffineMap> maps(op->getNumOperands(), rewriter.getMultiDimIdentityMap(resultType.getRank()));
    auto smaller = rewriter.create<linalg::GenericOp>(
        op.getLoc(), resultType, inputs, init, maps,
        SmallVector<utils::IteratorType>(resultType.getRank(), utils::IteratorType::parallel));
    rewriter.inlineRegionBefore(op.getRegion(), smaller.getRegion(), smaller.getRegion().begin());
    rewriter.replaceOp(collapse, smaller.getResults());
    rewriter.eraseOp(op);
    return success();
  }
};

// Inline tensor constants become weights, which kernels take as operands.
void storeConstants(func::FuncOp main) {
  auto &store = main.getContext()->getLoadedDialect<top::TopDialect>()->weights();
  OpBuilder builder(main.getContext());
  for (auto constant : llvm::make_early_inc_range(main.getBody().front().getOps<arith::ConstantOp>())) {
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!type)
      continue;
    std::optional<top::Weight> weight = constant.use_empty() ? std::nullopt : top::getConstant(constant.getResult());
    if (weight) {
      std::string name = store.addExternal("constant", type, weight->bytes, weight->owner);
      builder.setInsertionPoint(constant);
      constant.replaceAllUsesWith(builder.create<top::WeightOp>(constant.getLoc(), type, name).getOutput());
    }
    if (constant.use_empty())
      constant.erase();
  }
}

/// The names of all tensors in a function; they are interned in the context.
llvm::SetVector<StringRef> tensorNames(func::FuncOp main) {
  llvm::SetVector<StringRef> names;
  main.walk([&](Operation *op) {
    for (Value value : op->getResults())
      names.insert(top::getTensorName(value));
  });
  return names;
}

} // namespace

void normalize(func::FuncOp main, bool keepAll) {
  llvm::SetVector<StringRef> lost = tensorNames(main);
  RewritePatternSet patterns(main.getContext());
  patterns.add<ScalarizeSplats>(main.getContext());
  populateDropRoundings(patterns);
  if (!keepAll) {
    patterns.add<SinkElementwise>(main.getContext());
    populateSinkSlices(patterns);
  }
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, main.getContext());
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, main.getContext());
  // Failing to converge only costs fusion; the IR is correct.
  (void)applyPatternsAndFoldGreedily(main, std::move(patterns));
  // Reshapes of reshapes and roundings that nothing needs.
  lost.set_subtract(tensorNames(main));
  if (Operation *module = main->getParentOp())
    top::addAbsorbed(module, lost.getArrayRef());
  storeConstants(main);
}

} // namespace pto_mlir::kernels
