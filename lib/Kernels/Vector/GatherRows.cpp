//===- GatherRows.cpp - a gather as one copy per row ------------------------===//
//
// Data [outer, size, inner] is read at [o, place(indices[i]), all]: the scalar
// code of the body computes the place, a slice of the data is the row. Rows
// longer than a tile are cut evenly.
//
//===----------------------------------------------------------------------===//

#include "../Sizes/Extents.h"
#include "Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

tensor::ExtractOp findExtract(linalg::GenericOp op) {
  tensor::ExtractOp found;
  for (Operation &inner : *op.getBlock())
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      found = extract;
  return found;
}

} // namespace

Value reshapeTo(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  auto everything = [](size_t rank) {
    return SmallVector<ReassociationIndices>{llvm::to_vector(llvm::seq<int64_t>(0, rank))};
  };
  if (type.getRank() > 1)
    value = builder.create<tensor::CollapseShapeOp>(loc, value, everything(type.getRank()));
  if (shape.size() == 1)
    return value;
  return builder.create<tensor::ExpandShapeOp>(loc, RankedTensorType::get(shape, type.getElementType()), value,
                                               everything(shape.size()));
}

int64_t chunkOf(int64_t inner, int64_t elementBytes, int64_t budget) {
  int64_t limit = budget / 4 / elementBytes, chunk = inner;
  for (int64_t parts = 1; chunk > limit || inner % parts != 0; ++parts)
    chunk = inner / (parts + 1);
  return chunk;
}

bool gathersRows(linalg::GenericOp op) { return findExtract(op) != nullptr; }

LogicalResult lowerGather(func::FuncOp func, linalg::GenericOp op) {
  tensor::ExtractOp extract = findExtract(op);
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  auto data = cast<RankedTensorType>(extract.getTensor().getType());
  std::optional<int64_t> axis;
  bool plain = op.getNumDpsInputs() == 1 && op.getNumResults() == 1;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    if (index.getDefiningOp<linalg::IndexOp>())
      continue;
    plain &= !axis;
    axis = dim;
  }
  if (!plain || !axis || !type.hasStaticShape() || !data.hasStaticShape())
    return op.emitOpError("is no gather along one dimension");
  int64_t outer = ShapedType::getNumElements(data.getShape().take_front(*axis)), size = data.getDimSize(*axis);
  int64_t inner = ShapedType::getNumElements(data.getShape().drop_front(*axis + 1));
  Value place = extract.getIndices()[*axis], out = func.getArguments().back();
  auto indexType = cast<RankedTensorType>(op.getDpsInputs()[0].getType());
  int64_t count = indexType.getNumElements();

  Location loc = op.getLoc();
  IRRewriter rewriter(func.getContext());
  rewriter.setInsertionPoint(op);
  Value source = reshapeTo(rewriter, loc, extract.getTensor(), {outer, size, inner});
  Value indices = reshapeTo(rewriter, loc, op.getDpsInputs()[0], {count});
  Value result = reshapeTo(rewriter, loc, out, {outer, count, inner});
  // The numbers of rows at run time; the types have the greatest ones.
  kernels::SizeAnalysis analysis(func);
  kernels::Extents extents(func);
  for (Operation &step : func.getBody().front())
    if (failed(analysis.visit(&step)))
      return failure();
  AffineExpr groups = kernels::product(ArrayRef(analysis.of(extract.getTensor())).take_front(*axis), op.getContext());
  AffineExpr rows = kernels::product(analysis.of(op.getDpsInputs()[0]), op.getContext());
  int64_t chunk = chunkOf(inner, std::max(1u, data.getElementTypeBitWidth() / 8), unifiedBufferBudget(func));

  // One loop per dimension that has more than one step; the rows are outermost but for `outer`.
  SmallVector<Value> ivs;
  SmallVector<scf::ForOp> loops;
  OpFoldResult bounds[] = {extents.of(groups), extents.of(rows), rewriter.getIndexAttr(inner)};
  int64_t steps[] = {1, 1, chunk};
  for (auto [bound, step] : llvm::zip_equal(bounds, steps)) {
    Value zero = rewriter.create<arith::ConstantIndexOp>(loc, 0);
    if (isConstantIntValue(bound, step) && !(ivs.size() == 1 && loops.empty())) {
      ivs.push_back(zero);
      continue;
    }
    auto loop = rewriter.create<scf::ForOp>(loc, zero, getValueOrCreateConstantIndexOp(rewriter, loc, bound),
                                            rewriter.create<arith::ConstantIndexOp>(loc, step), result);
    rewriter.setInsertionPointToStart(loop.getBody());
    ivs.push_back(loop.getInductionVar());
    result = loop.getRegionIterArg(0);
    loops.push_back(loop);
  }
  IRMapping map;
  map.map(op.getBlock()->getArgument(0), rewriter.create<tensor::ExtractOp>(loc, indices, ivs[1]).getResult());
  for (Operation &scalar : *op.getBlock()) {
    if (&scalar == extract.getOperation())
      break;
    if (!isa<linalg::IndexOp>(scalar))
      rewriter.clone(scalar, map);
  }
  auto at = [](ArrayRef<Value> values) { return SmallVector<OpFoldResult>(values.begin(), values.end()); };
  SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(1), rewriter.getIndexAttr(1), rewriter.getIndexAttr(chunk)};
  SmallVector<OpFoldResult> strides(3, rewriter.getIndexAttr(1));
  // One dimension: a strided row of three cannot be collapsed in place.
  auto rowType = RankedTensorType::get({chunk}, data.getElementType());
  Value row = rewriter.create<tensor::ExtractSliceOp>(loc, rowType, source,
                                                      at({ivs[0], map.lookupOrDefault(place), ivs[2]}), sizes, strides);
  result = rewriter.create<tensor::InsertSliceOp>(loc, row, result, at({ivs[0], ivs[1], ivs[2]}), sizes, strides);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    rewriter.setInsertionPointToEnd(loop.getBody());
    rewriter.create<scf::YieldOp>(loc, result);
    result = loop.getResult(0);
  }
  rewriter.setInsertionPoint(ret);
  ret.setOperand(0, reshapeTo(rewriter, loc, result, type.getShape()));
  rewriter.eraseOp(op);
  return success();
}

} // namespace pto_mlir::vector_kernels
