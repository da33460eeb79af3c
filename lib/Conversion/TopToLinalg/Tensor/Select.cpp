//===- Select.cpp - ops with tile templates as loops for a CPU ------------===//
//
// Only for running a net without kernels (TopJIT): plain loops over elements.
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

/// Loops and scalars of one op.
struct Loops {
  Loops(OpBuilder &b, Location loc) : b(b), loc(innerLoc(loc)) {}

  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }
  Value at(Value tensor, ValueRange place) { return b.create<tensor::ExtractOp>(loc, tensor, place); }
  Value set(Value element, Value tensor, ValueRange place) {
    return b.create<tensor::InsertOp>(loc, element, tensor, place);
  }
  Value both(Value x, Value y) { return b.create<arith::AndIOp>(loc, x, y); }
  Value either(Value x, Value y) { return b.create<arith::OrIOp>(loc, x, y); }
  Value select(Value condition, Value x, Value y) { return b.create<arith::SelectOp>(loc, condition, x, y); }
  Value less(Value x, Value y) {
    return isa<FloatType>(x.getType()) ? b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, y).getResult()
                                       : b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y).getResult();
  }
  Value equal(Value x, Value y) {
    return isa<FloatType>(x.getType()) ? b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, x, y).getResult()
                                       : b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y).getResult();
  }
  Value asIndex(Value x) { return b.create<arith::IndexCastOp>(loc, b.getIndexType(), x); }

  /// for (i = 0; i < count; ++i) carried = body(i, carried)
  SmallVector<Value> loop(int64_t count, ValueRange initial,
                          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto loop = b.create<scf::ForOp>(loc, index(0), index(count), index(1), initial);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    b.create<scf::YieldOp>(loc, body(loop.getInductionVar(), loop.getRegionIterArgs()));
    return loop.getResults();
  }

  OpBuilder &b;
  Location loc;
};

SmallVector<int64_t> asRows(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return {type.getNumElements() / type.getShape().back(), type.getShape().back()};
}

Value finish(OpBuilder &b, Operation *op, Value rows) {
  return reshape(b, op->getLoc(), rows, cast<RankedTensorType>(op->getResult(0).getType()).getShape());
}

/// The next element after the last one, k times: the greatest (or least) of those that come later in the order.
template <typename OpTy> struct TopKLowering : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &b) const override {
    Loops l(b, op.getLoc());
    SmallVector<int64_t> rows = asRows(op.getInput().getType()), results = asRows(op.getType());
    Value data = reshape(b, l.loc, op.getInput(), rows);
    Type element = getElementTypeOrSelf(data.getType()), result = getElementTypeOrSelf(op.getType());
    double end = std::numeric_limits<double>::infinity();
    if (auto integer = dyn_cast<IntegerType>(element))
      end = std::ldexp(1.0, static_cast<int>(integer.getWidth()) - 2) * 2 - 1; // rounds to a number that is held
    auto before = [&](Value x, Value y) { return op.getLargest() ? l.less(y, x) : l.less(x, y); };
    auto made = l.loop(rows[0], empty(b, l.loc, results, result), [&](Value row, ValueRange outer) {
      Value first = scalar(b, l.loc, element, op.getLargest() ? end : -end);
      SmallVector<Value> initial{outer[0], first, l.index(-1)};
      return SmallVector<Value>{l.loop(results[1], initial, [&](Value j, ValueRange last) {
        SmallVector<Value> none{last[1], l.index(-1)};
        auto best = l.loop(rows[1], none, [&](Value i, ValueRange found) {
          Value x = l.at(data, {row, i});
          Value later = l.either(before(last[1], x), l.both(l.equal(x, last[1]), l.less(last[2], i)));
          Value better = l.either(l.less(found[1], l.index(0)), before(x, found[0]));
          Value taken = l.both(later, better);
          return SmallVector<Value>{l.select(taken, x, found[0]), l.select(taken, i, found[1])};
        });
        Value place = b.create<arith::MaxSIOp>(l.loc, best[1], l.index(0));
        Value stored = best[0];
        if (isa<top::TopKIndicesOp>(op))
          stored = b.create<arith::IndexCastOp>(l.loc, result, place);
        return SmallVector<Value>{l.set(stored, last[0], {row, j}), best[0], best[1]};
      })[0]};
    });
    b.replaceOp(op, finish(b, op, made[0]));
    return success();
  }
};

struct GatherElementsLowering : OpRewritePattern<top::GatherElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::GatherElementsOp op, PatternRewriter &b) const override {
    Loops l(b, op.getLoc());
    SmallVector<int64_t> rows = asRows(op.getData().getType()), results = asRows(op.getType());
    Value data = reshape(b, l.loc, op.getData(), rows), indices = reshape(b, l.loc, op.getIndices(), results);
    Value init = empty(b, l.loc, results, getElementTypeOrSelf(op.getType()));
    auto made = l.loop(results[0], init, [&](Value row, ValueRange outer) {
      return l.loop(results[1], outer, [&](Value j, ValueRange inner) {
        Value i = l.asIndex(l.at(indices, {row, j})), wrapped = b.create<arith::AddIOp>(l.loc, i, l.index(rows[1]));
        i = l.select(l.less(i, l.index(0)), wrapped, i);
        i = b.create<arith::MaxSIOp>(l.loc, i, l.index(0));
        i = b.create<arith::MinSIOp>(l.loc, i, l.index(rows[1] - 1));
        return SmallVector<Value>{l.set(l.at(data, {row, i}), inner[0], {row, j})};
      });
    });
    b.replaceOp(op, finish(b, op, made[0]));
    return success();
  }
};

struct ScatterLowering : OpRewritePattern<top::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ScatterOp op, PatternRewriter &b) const override {
    Loops l(b, op.getLoc());
    ArrayRef<int64_t> shape = op.getType().getShape();
    int64_t count = cast<RankedTensorType>(op.getPositions().getType()).getNumElements();
    Value zero = l.index(0), last = l.index(shape[0] - 1);
    auto made = l.loop(count, op.getData(), [&](Value i, ValueRange outer) {
      Value place = l.asIndex(l.at(op.getPositions(), i));
      Value row = b.create<arith::MinSIOp>(l.loc, b.create<arith::MaxSIOp>(l.loc, place, zero), last);
      Value inside = l.equal(row, place);
      return l.loop(shape[1], outer, [&](Value j, ValueRange inner) {
        Value old = l.at(inner[0], {row, j}), update = l.at(op.getUpdates(), {i, j});
        Value combined = combine(b, l.loc, op.getReduction(), old, update);
        return SmallVector<Value>{l.set(l.select(inside, combined, old), inner[0], {row, j})};
      });
    });
    b.replaceOp(op, made[0]);
    return success();
  }

  static Value combine(OpBuilder &b, Location loc, StringRef reduction, Value x, Value y) {
    bool real = isa<FloatType>(x.getType());
    auto either = [&](auto whole, auto floating) -> Value {
      return real ? b.create<typename decltype(floating)::type>(loc, x, y).getResult()
                  : b.create<typename decltype(whole)::type>(loc, x, y).getResult();
    };
    if (reduction == "add")
      return either(std::type_identity<arith::AddIOp>(), std::type_identity<arith::AddFOp>());
    if (reduction == "mul")
      return either(std::type_identity<arith::MulIOp>(), std::type_identity<arith::MulFOp>());
    if (reduction == "max")
      return either(std::type_identity<arith::MaxSIOp>(), std::type_identity<arith::MaximumFOp>());
    if (reduction == "min")
      return either(std::type_identity<arith::MinSIOp>(), std::type_identity<arith::MinimumFOp>());
    return y;
  }
};

} // namespace

void populateSelect(RewritePatternSet &patterns) {
  patterns
      .add<TopKLowering<top::TopKValuesOp>, TopKLowering<top::TopKIndicesOp>, GatherElementsLowering, ScatterLowering>(
          patterns.getContext());
}

} // namespace pto_mlir::top_to_linalg
