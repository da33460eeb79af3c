//===- DropRoundings.cpp - remove truncations before extensions -----------===//

#include "DropRoundings.h"

#include "OpRole.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::kernels {
namespace {

/// A truncation inserted by storage narrowing, not by the model.
bool isStorageRounding(linalg::GenericOp op) {
  if (!op || !isTruncation(op))
    return false;
  return !cast<arith::TruncFOp>(op.getBlock()->getTerminator()->getOperand(0).getDefiningOp()).getRoundingmode();
}

RankedTensorType withElement(Value value, Type element) {
  return RankedTensorType::get(cast<RankedTensorType>(value.getType()).getShape(), element);
}

/// extf(step(x)) -> step(extf(x)), and extf(truncf(x)) -> x.
struct RaiseExtension : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!isExtension(op))
      return rewriter.notifyMatchFailure(op, "is no extension");
    Type wide = cast<RankedTensorType>(op.getResultTypes()[0]).getElementType();
    SmallVector<Operation *> steps; // the last first
    Value source = op.getDpsInputs()[0];
    while (source.hasOneUse() && source.getDefiningOp() && isStep(source.getDefiningOp())) {
      steps.push_back(source.getDefiningOp());
      source = steps.back()->getOperand(0);
    }
    auto producer = source.getDefiningOp<linalg::GenericOp>();
    if (!producer || !source.hasOneUse())
      return rewriter.notifyMatchFailure(op, "others read the value as well, or it is not computed");
    Value value;
    if (isStorageRounding(producer) && getElementTypeOrSelf(producer.getDpsInputs()[0].getType()) == wide) {
      value = producer.getDpsInputs()[0];
      // The extended value keeps the name of the rounded one.
      if (Operation *maker = value.getDefiningOp(); maker && value.hasOneUse())
        rewriter.modifyOpInPlace(maker, [&] { maker->setLoc(steps.empty() ? op.getLoc() : producer.getLoc()); });
    } else if (!steps.empty() && classify(producer) == OpRole::Elementwise) {
      rewriter.setInsertionPointAfter(producer);
      value = extended(source, wide, producer.getLoc(), rewriter);
    } else {
      return rewriter.notifyMatchFailure(op, "stands where the value is computed");
    }
    for (Operation *step : llvm::reverse(steps))
      value = repeated(step, value, wide, step == steps.front() ? op.getLoc() : step->getLoc(), rewriter);
    rewriter.replaceOp(op, value);
    return success();
  }

private:
  static bool isExtension(linalg::GenericOp op) {
    if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
        !llvm::all_of(op.getIndexingMapsArray(), readsAllLoops))
      return false;
    auto extension = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp<arith::ExtFOp>();
    return extension && extension.getIn() == op.getBlock()->getArgument(0);
  }

  static bool isStep(Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return isRelu(generic);
    return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, linalg::TransposeOp>(op);
  }

  static Value init(Value like, Type element, Location loc, OpBuilder &builder) {
    return builder.create<tensor::EmptyOp>(loc, cast<RankedTensorType>(like.getType()).getShape(), element);
  }

  static Value unary(Value value, Type element, Location loc, OpBuilder &builder,
                     llvm::function_ref<Value(OpBuilder &, Value)> body) {
    AffineMap identity = builder.getMultiDimIdentityMap(cast<RankedTensorType>(value.getType()).getRank());
    SmallVector<utils::IteratorType> parallel(identity.getNumDims(), utils::IteratorType::parallel);
    return builder
        .create<linalg::GenericOp>(
            loc, withElement(value, element), value, init(value, element, loc, builder), ArrayRef{identity, identity},
            parallel,
            [&](OpBuilder &b, Location inner, ValueRange args) { b.create<linalg::YieldOp>(inner, body(b, args[0])); })
        .getResult(0);
  }

  static Value extended(Value value, Type wide, Location loc, OpBuilder &builder) {
    return unary(value, wide, loc, builder,
                 [&](OpBuilder &b, Value in) -> Value { return b.create<arith::ExtFOp>(loc, wide, in); });
  }

  /// `step` once more, on the wide value.
  static Value repeated(Operation *step, Value value, Type wide, Location loc, PatternRewriter &rewriter) {
    rewriter.setInsertionPoint(step);
    RankedTensorType type = withElement(step->getResult(0), wide);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(step))
      return rewriter.create<tensor::CollapseShapeOp>(loc, type, value, collapse.getReassociationIndices());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(step))
      return rewriter.create<tensor::ExpandShapeOp>(loc, type, value, expand.getReassociationIndices());
    if (auto transpose = dyn_cast<linalg::TransposeOp>(step))
      return rewriter
          .create<linalg::TransposeOp>(loc, value, init(step->getResult(0), wide, loc, rewriter),
                                       transpose.getPermutation())
          ->getResult(0);
    return unary(value, wide, loc, rewriter, [&](OpBuilder &b, Value in) -> Value {
      return b.create<arith::MaximumFOp>(loc, in, b.create<arith::ConstantOp>(loc, b.getZeroAttr(wide)));
    });
  }
};

} // namespace

void populateDropRoundings(RewritePatternSet &patterns) { patterns.add<RaiseExtension>(patterns.getContext()); }

} // namespace pto_mlir::kernels
