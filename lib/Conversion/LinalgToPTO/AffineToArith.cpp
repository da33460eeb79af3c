//===- AffineToArith.cpp - lower affine ops to scalar code ----------------------===//

#include "AffineToArith.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;

namespace pto_mlir {
namespace {

class Expander : public AffineExprVisitor<Expander, Value> {
public:
  Expander(OpBuilder &builder, Location loc, unsigned numDims, ValueRange operands)
      : builder(builder), loc(loc), numDims(numDims), operands(operands) {}

  Value visitDimExpr(AffineDimExpr expr) { return operands[expr.getPosition()]; }
  Value visitSymbolExpr(AffineSymbolExpr expr) { return operands[numDims + expr.getPosition()]; }
  Value visitConstantExpr(AffineConstantExpr expr) { return constant(expr.getValue()); }
  Value visitAddExpr(AffineBinaryOpExpr expr) { return binary<arith::AddIOp>(expr); }
  Value visitMulExpr(AffineBinaryOpExpr expr) { return binary<arith::MulIOp>(expr); }
  Value visitModExpr(AffineBinaryOpExpr expr) {
    // a mod b = a - floor(a / b) * b, also for negative a.
    Value a = visit(expr.getLHS()), b = visit(expr.getRHS());
    Value quotient = builder.create<arith::FloorDivSIOp>(loc, a, b);
    return builder.create<arith::SubIOp>(loc, a, builder.create<arith::MulIOp>(loc, quotient, b));
  }
  Value visitFloorDivExpr(AffineBinaryOpExpr expr) { return binary<arith::FloorDivSIOp>(expr); }
  Value visitCeilDivExpr(AffineBinaryOpExpr expr) {
    // Affine divisors are positive: ceil(a / b) = floor((a + b - 1) / b).
    Value a = visit(expr.getLHS()), b = visit(expr.getRHS());
    Value up = builder.create<arith::AddIOp>(loc, a, builder.create<arith::SubIOp>(loc, b, constant(1)));
    return builder.create<arith::FloorDivSIOp>(loc, up, b);
  }

private:
  Value constant(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }
  template <typename Op> Value binary(AffineBinaryOpExpr expr) {
    Value a = visit(expr.getLHS()), b = visit(expr.getRHS());
    return builder.create<Op>(loc, a, b);
  }

  OpBuilder &builder;
  Location loc;
  unsigned numDims;
  ValueRange operands;
};

template <typename Combine> Value expand(Operation *op, AffineMap map) {
  OpBuilder builder(op);
  Expander expander(builder, op->getLoc(), map.getNumDims(), op->getOperands());
  Value result;
  for (AffineExpr expr : map.getResults()) {
    Value value = expander.visit(expr);
    result = result ? builder.create<Combine>(op->getLoc(), result, value).getResult() : value;
  }
  return result;
}

} // namespace

void lowerAffineOps(func::FuncOp func) {
  func.walk([](Operation *op) {
    Value value;
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      value = expand<arith::AddIOp>(op, apply.getAffineMap());
    else if (auto min = dyn_cast<affine::AffineMinOp>(op))
      value = expand<arith::MinSIOp>(op, min.getAffineMap());
    else if (auto max = dyn_cast<affine::AffineMaxOp>(op))
      value = expand<arith::MaxSIOp>(op, max.getAffineMap());
    else
      return;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  });
}

} // namespace pto_mlir
