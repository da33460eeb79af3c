//===- StateWrite.cpp - rows of a state, as insertions ----------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// One insertion per batch that has a position of its own; with `circular` per row.
struct StateWriteLowering : OpRewritePattern<top::StateWriteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::StateWriteOp op, PatternRewriter &b) const override {
    auto state = cast<RankedTensorType>(op.getState().getType()),
         update = cast<RankedTensorType>(op.getUpdate().getType());
    Location loc = op.getLoc(), inner = innerLoc(loc);
    int64_t axis = op.getAxis(), size = state.getDimSize(axis), rows = update.getDimSize(axis), rank = state.getRank();
    int64_t batches = cast<RankedTensorType>(op.getPosition().getType()).getDimSize(0);
    int64_t pieces = op.getCircular() ? rows : 1;
    auto index = [&](int64_t value) -> Value { return b.create<arith::ConstantIndexOp>(inner, value); };
    SmallVector<OpFoldResult> ones(rank, b.getIndexAttr(1));
    Value result = op.getState();
    for (int64_t batch = 0; batch < batches; ++batch) {
      Value number = b.create<tensor::ExtractOp>(inner, op.getPosition(), index(batch));
      Value position = b.create<arith::IndexCastOp>(inner, b.getIndexType(), number);
      for (int64_t piece = 0; piece < pieces; ++piece) {
        Value place = b.create<arith::AddIOp>(inner, position, index(piece));
        if (op.getCircular()) {
          place = b.create<arith::RemSIOp>(inner, place, index(size));
          place = b.create<arith::RemSIOp>(inner, b.create<arith::AddIOp>(inner, place, index(size)), index(size));
        } else {
          place = b.create<arith::MinSIOp>(inner, b.create<arith::MaxSIOp>(inner, place, index(0)), index(size - rows));
        }
        SmallVector<OpFoldResult> from(rank, b.getIndexAttr(0)), to(from);
        SmallVector<int64_t> shape(update.getShape());
        from[axis] = b.getIndexAttr(piece);
        to[axis] = place;
        shape[axis] = rows / pieces;
        if (batches > 1) {
          from[0] = to[0] = b.getIndexAttr(batch);
          shape[0] = 1;
        }
        SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), shape);
        auto type = RankedTensorType::get(shape, update.getElementType());
        Value part = b.create<tensor::ExtractSliceOp>(inner, type, op.getUpdate(), from, sizes, ones);
        bool isLast = batch + 1 == batches && piece + 1 == pieces;
        result = b.create<tensor::InsertSliceOp>(isLast ? loc : inner, part, result, to, sizes, ones);
      }
    }
    b.replaceOp(op, result);
    return success();
  }
};
} // namespace

void populateStateWrite(RewritePatternSet &patterns) { patterns.add<StateWriteLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
