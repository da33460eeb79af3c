//===- Logic.cpp - comparisons, logic, selection ---------------------------===//
//
// Booleans are i1 inside a body. As tensors they are i1 (a module on the CPU) or i32 (after top-storage-types).
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

struct CompareLowering : OpRewritePattern<top::CompareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::CompareOp op, PatternRewriter &rewriter) const override {
    StringRef mode = op.getMode();
    Type compute = computeType(elementOf(op.getLhs()), false);
    using F = arith::CmpFPredicate;
    using I = arith::CmpIPredicate;
    F floats = mode == "eq" ? F::OEQ : mode == "lt" ? F::OLT : mode == "le" ? F::OLE : mode == "gt" ? F::OGT : F::OGE;
    I ints = mode == "eq" ? I::eq : mode == "lt" ? I::slt : mode == "le" ? I::sle : mode == "gt" ? I::sgt : I::sge;
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()),
                                       {op.getLhs(), op.getRhs()}, compute,
                                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         if (isa<FloatType>(compute))
                                           return b.create<arith::CmpFOp>(loc, floats, args[0], args[1]);
                                         return b.create<arith::CmpIOp>(loc, ints, args[0], args[1]);
                                       }));
    return success();
  }
};

template <typename TopOp, typename ArithOp> struct LogicLowering : OpRewritePattern<TopOp> {
  using OpRewritePattern<TopOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(TopOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), cast<RankedTensorType>(op.getType()), op->getOperands(),
                                       rewriter.getI1Type(), [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         Value other = args.size() > 1 ? args[1] : scalar(b, loc, b.getI1Type(), 1);
                                         return b.create<ArithOp>(loc, args[0], other);
                                       }));
    return success();
  }
};

struct WhereLowering : OpRewritePattern<top::WhereOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::WhereOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Type compute = computeType(type.getElementType(), false);
    rewriter.replaceOp(op, elementwise(rewriter, op.getLoc(), type, op->getOperands(), Type(),
                                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                         Value condition = convertScalar(b, loc, args[0], b.getI1Type());
                                         return b.create<arith::SelectOp>(loc, condition,
                                                                          convertScalar(b, loc, args[1], compute),
                                                                          convertScalar(b, loc, args[2], compute));
                                       }));
    return success();
  }
};

} // namespace

void populateLogic(RewritePatternSet &patterns) {
  patterns.add<CompareLowering, WhereLowering, LogicLowering<top::AndOp, arith::AndIOp>,
               LogicLowering<top::OrOp, arith::OrIOp>, LogicLowering<top::XorOp, arith::XOrIOp>,
               LogicLowering<top::NotOp, arith::XOrIOp>>(patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
