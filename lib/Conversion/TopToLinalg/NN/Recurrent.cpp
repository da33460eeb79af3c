//===- Recurrent.cpp - a recurrence as a loop over its steps ----------------===//
//
// For execution by the host; the deploy pipeline leaves the op to build-recurrent-kernels.
//
//===----------------------------------------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Kernels/Recurrence.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

using recurrent::Part;
using recurrent::Stage;
using recurrent::Tensor;

/// One direction; values between the stages of a step are kept here.
class Loop {
public:
  Loop(top::RecurrentOp op, PatternRewriter &b, int64_t direction)
      : op(op), b(b), loc(innerLoc(op.getLoc())), direction(direction), extents(op.getExtents()) {}

  /// Writes the outputs and the states, which lie behind them, into `result`.
  Value run(Value result) {
    auto index = [&](int64_t value) -> Value { return b.create<arith::ConstantIndexOp>(loc, value); };
    SmallVector<int64_t> whole{1, extents.batch, extents.hidden};
    result = insert(part(op.getInitialH(), {direction, 0, 0}, whole), result, b.getIndexAttr(extents.steps));
    if (op.getInitialC())
      result = insert(part(op.getInitialC(), {direction, 0, 0}, whole), result, b.getIndexAttr(extents.steps + 1));
    Value zero = index(0), one = index(1), last = index(extents.steps - 1), initial = index(extents.steps);
    auto loop = b.create<scf::ForOp>(loc, zero, initial, one, result);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value count = loop.getInductionVar();
    step = op.isReverse(direction) ? b.create<arith::SubIOp>(loc, last, count) : count;
    before = initial;
    if (!op.getLive()) { // the output of the step before is the state
      Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, count, zero);
      Value previous = op.isReverse(direction) ? b.create<arith::AddIOp>(loc, step, one).getResult()
                                               : b.create<arith::SubIOp>(loc, step, one).getResult();
      before = b.create<arith::SelectOp>(loc, first, initial, previous);
    }
    all = loop.getRegionIterArgs()[0];
    for (const Stage &stage : recurrent::stagesOf(op))
      compute(stage);
    b.create<scf::YieldOp>(loc, all);
    return loop.getResult(0);
  }

private:
  /// A slice of `value` without its dimensions of one, but for those of [batch, hidden].
  Value part(Value value, ArrayRef<OpFoldResult> starts, ArrayRef<int64_t> sizes, int64_t rank = 2) {
    SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
    auto type = RankedTensorType::get(sizes.take_back(rank), getElementTypeOrSelf(value.getType()));
    return b.create<tensor::ExtractSliceOp>(loc, type, value, starts, getAsIndexOpFoldResult(b.getContext(), sizes),
                                            ones);
  }
  Value part(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes, int64_t rank = 2) {
    return part(value, getAsIndexOpFoldResult(b.getContext(), starts), sizes, rank);
  }
  Value insert(Value rows, Value into, OpFoldResult step) {
    OpFoldResult zero = b.getIndexAttr(0);
    SmallVector<OpFoldResult> ones(4, b.getIndexAttr(1)), starts{step, b.getIndexAttr(direction), zero, zero};
    auto sizes = getAsIndexOpFoldResult(b.getContext(), {1, 1, extents.batch, extents.hidden});
    return b.create<tensor::InsertSliceOp>(loc, rows, into, starts, sizes, ones);
  }

  /// [batch, hidden] of the result.
  Value rowsAt(OpFoldResult row) {
    OpFoldResult zero = b.getIndexAttr(0);
    return part(all, {row, b.getIndexAttr(direction), zero, zero}, {1, 1, extents.batch, extents.hidden});
  }
  void write(Tensor to, Value value) {
    if (to == Tensor::Output)
      all = insert(value, all, step);
    else if (to == Tensor::Hidden || to == Tensor::Cell)
      all = insert(value, all, b.getIndexAttr(extents.steps + (to == Tensor::Cell)));
    else
      values[to] = value;
  }

  Value read(const Part &from, Value product) {
    int64_t column = from.gate * extents.hidden;
    OpFoldResult zero = b.getIndexAttr(0);
    switch (from.tensor) {
    case Tensor::Given:
      return part(op.getInput(), {step, zero, b.getIndexAttr(direction * extents.gates * extents.hidden + column)},
                  {1, extents.batch, extents.hidden});
    case Tensor::Live:
      return part(op.getLive(), ArrayRef<OpFoldResult>{step, zero}, {1, extents.batch}, 1);
    case Tensor::Bias:
      return part(op.getBias(), {direction, column}, {1, extents.hidden}, 1);
    case Tensor::Peepholes:
      return part(op.getPeepholes(), {direction, column}, {1, extents.hidden}, 1);
    case Tensor::Product:
      return part(product, ArrayRef<int64_t>{0, column}, {extents.batch, extents.hidden});
    case Tensor::Hidden:
      return rowsAt(before);
    case Tensor::Cell:
      return rowsAt(b.getIndexAttr(extents.steps + 1));
    default:
      return values[from.tensor];
    }
  }

  void compute(const Stage &stage) {
    int64_t columns = stage.gates * extents.hidden;
    Value weights =
        part(op.getWeights(), {direction, stage.firstGate * extents.hidden, 0}, {1, columns, extents.hidden});
    Value left = read({stage.left}, {});
    Value init = filled(b, loc, {extents.batch, columns}, b.getF32Type(), 0);
    Value product = b.create<linalg::MatmulTransposeBOp>(loc, ValueRange{left, weights}, ValueRange{init}).getResult(0);
    SmallVector<Value> reads, inits;
    for (const Part &from : stage.reads)
      reads.push_back(read(from, product));
    for (const Part &to : stage.writes)
      inits.push_back(empty(b, loc, {extents.batch, extents.hidden}, recurrent::elementOf(op, to.tensor)));
    for (auto [to, value] : llvm::zip_equal(stage.writes, recurrent::buildStage(op, stage, b, loc, reads, inits)))
      write(to.tensor, value);
  }

  top::RecurrentOp op;
  PatternRewriter &b;
  Location loc;
  int64_t direction;
  top::RecurrentOp::Extents extents;
  Value step, before, all; ///< the row of the step, of the state before it; the result so far
  std::map<Tensor, Value> values;
};

struct RecurrentLowering : OpRewritePattern<top::RecurrentOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::RecurrentOp op, PatternRewriter &rewriter) const override {
    if (failed(recurrent::checkActivations(op)))
      return failure();
    auto type = cast<RankedTensorType>(op.getType());
    Value result = empty(rewriter, op.getLoc(), type.getShape(), type.getElementType());
    for (int64_t direction = 0; direction < op.getExtents().directions; ++direction)
      result = Loop(op, rewriter, direction).run(result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateRecurrent(RewritePatternSet &patterns) { patterns.add<RecurrentLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
