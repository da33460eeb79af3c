//===- StateWrite.cpp - rows written into a state ---------------------------===//
//
// The output argument is the state, [outer, size, inner]; the update is [outer,
// rows, inner]. The rows of one outer index lie together in both, so they are one
// run of elements; with `circular` each row is a run. Long runs are cut evenly.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

namespace {

// The row of the state where a run begins. Computed in i32, as a gather's.
Value placeOf(OpBuilder &b, Location loc, top::StateWriteOp op, Value position, Value run, int64_t size, int64_t rows) {
  auto number = [&](int64_t value) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value place = position;
  if (op.getCircular()) {
    place = b.create<arith::AddIOp>(loc, place, b.create<arith::IndexCastOp>(loc, b.getI32Type(), run));
    place = b.create<arith::RemSIOp>(loc, place, number(size));
    Value wrapped = b.create<arith::AddIOp>(loc, place, number(size));
    Value negative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, place, number(0));
    place = b.create<arith::SelectOp>(loc, negative, wrapped, place);
  } else {
    place = b.create<arith::MinSIOp>(loc, b.create<arith::MaxSIOp>(loc, place, number(0)), number(size - rows));
  }
  return b.create<arith::IndexCastOp>(loc, b.getIndexType(), place);
}

} // namespace

LogicalResult lowerStateWrite(func::FuncOp func, top::StateWriteOp op) {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  auto state = cast<RankedTensorType>(op.getType()), update = cast<RankedTensorType>(op.getUpdate().getType());
  Value out = func.getArguments().back();
  if (op.getState() != out)
    return op.emitOpError("expects the output argument to be its state");
  int64_t axis = op.getAxis(), size = state.getDimSize(axis), rows = update.getDimSize(axis);
  int64_t outer = ShapedType::getNumElements(state.getShape().take_front(axis));
  int64_t inner = ShapedType::getNumElements(state.getShape().drop_front(axis + 1));
  int64_t runs = op.getCircular() ? rows : 1, width = rows / runs * inner;
  int64_t batches = cast<RankedTensorType>(op.getPosition().getType()).getDimSize(0);
  int64_t chunk = chunkOf(width, std::max(1u, state.getElementTypeBitWidth() / 8), unifiedBufferBudget(func));

  Location loc = op.getLoc();
  IRRewriter rewriter(func.getContext());
  rewriter.setInsertionPoint(op);
  Value source = reshapeTo(rewriter, loc, op.getUpdate(), {outer, runs, width});
  Value result = reshapeTo(rewriter, loc, out, {outer, size * inner});
  auto index = [&](int64_t value) -> Value { return rewriter.create<arith::ConstantIndexOp>(loc, value); };
  SmallVector<Value> ivs;
  SmallVector<scf::ForOp> loops;
  for (auto [extent, step] : {std::pair<int64_t, int64_t>(outer, 1), {runs, 1}, {width, chunk}}) {
    Value zero = index(0);
    if (extent == step && !(ivs.size() == 2 && loops.empty())) {
      ivs.push_back(zero);
      continue;
    }
    auto loop = rewriter.create<scf::ForOp>(loc, zero, index(extent), index(step), result);
    rewriter.setInsertionPointToStart(loop.getBody());
    ivs.push_back(loop.getInductionVar());
    result = loop.getRegionIterArg(0);
    loops.push_back(loop);
  }
  Value batch = batches == 1 ? index(0) : rewriter.create<arith::FloorDivSIOp>(loc, ivs[0], index(outer / batches));
  Value position = rewriter.create<tensor::ExtractOp>(loc, op.getPosition(), batch);
  Value place = placeOf(rewriter, loc, op, position, ivs[1], size, rows);
  Value first = rewriter.create<arith::AddIOp>(loc, rewriter.create<arith::MulIOp>(loc, place, index(inner)), ivs[2]);
  auto ones = [&](size_t count) { return SmallVector<OpFoldResult>(count, rewriter.getIndexAttr(1)); };
  SmallVector<OpFoldResult> from{ivs[0], ivs[1], ivs[2]}, to{ivs[0], first}, sizes = ones(3), written = ones(2);
  sizes.back() = written.back() = rewriter.getIndexAttr(chunk);
  // One dimension: a strided row of three cannot be collapsed in place.
  auto rowType = RankedTensorType::get({chunk}, state.getElementType());
  Value row = rewriter.create<tensor::ExtractSliceOp>(loc, rowType, source, from, sizes, ones(3));
  result = rewriter.create<tensor::InsertSliceOp>(loc, row, result, to, written, ones(2));
  for (scf::ForOp loop : llvm::reverse(loops)) {
    rewriter.setInsertionPointToEnd(loop.getBody());
    rewriter.create<scf::YieldOp>(loc, result);
    result = loop.getResult(0);
  }
  rewriter.setInsertionPoint(ret);
  ret.setOperand(0, reshapeTo(rewriter, loc, result, state.getShape()));
  rewriter.eraseOp(op);
  return success();
}

} // namespace pto_mlir::vector_kernels
