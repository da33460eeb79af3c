//===- GlobalViews.cpp - views of kernel arguments ------------------------===//

#include "GlobalViews.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir {
namespace {

OpFoldResult apply(OpBuilder &builder, Location loc, AffineExpr expr, ArrayRef<OpFoldResult> operands) {
  return affine::makeComposedFoldedAffineApply(builder, loc, expr, operands);
}

GlobalView wholeArgument(OpBuilder &builder, BlockArgument argument) {
  auto type = cast<MemRefType>(argument.getType());
  GlobalView view{argument, builder.getIndexAttr(0), {}, {}};
  auto pitches = argument.getOwner()->getParentOp()->getAttrOfType<DenseI64ArrayAttr>(pto::kPitchesAttr);
  int64_t pitch = pitches ? pitches[argument.getArgNumber()] : 0, stride = 1;
  for (int64_t size : llvm::reverse(type.getShape())) {
    view.sizes.insert(view.sizes.begin(), builder.getIndexAttr(size));
    view.strides.insert(view.strides.begin(), builder.getIndexAttr(stride));
    stride = pitch && stride == 1 ? pitch : stride * size;
  }
  return view;
}

/// The unit dimensions dropped by a rank-reducing subview, matched by sizes and strides, innermost first.
/// (SubViewOp::getDroppedDims compares with the source's strides and fails where the step of a unit dimension is not
/// 1.)
llvm::SmallBitVector droppedDims(memref::SubViewOp op) {
  auto full = cast<MemRefType>(memref::SubViewOp::inferResultType(op.getSourceType(), op.getMixedOffsets(),
                                                                  op.getMixedSizes(), op.getMixedStrides()));
  auto [strides, offset] = getStridesAndOffset(full);
  auto [keptStrides, keptOffset] = getStridesAndOffset(op.getType());
  int64_t next = op.getType().getRank() - 1;
  llvm::SmallBitVector dropped(full.getRank());
  for (int64_t dim = full.getRank() - 1; dim >= 0; --dim) {
    bool kept = next >= 0 && (next == dim || full.getDimSize(dim) != 1 ||
                              (op.getType().getDimSize(next) == 1 && keptStrides[next] == strides[dim]));
    dropped[dim] = !kept;
    next -= kept;
  }
  return dropped;
}

GlobalView cut(OpBuilder &builder, memref::SubViewOp op, GlobalView view) {
  AffineExpr a = builder.getAffineDimExpr(0), b = builder.getAffineDimExpr(1), c = builder.getAffineDimExpr(2);
  AffineExpr s0 = builder.getAffineSymbolExpr(0);
  GlobalView result{view.argument, view.offset, {}, {}};
  llvm::SmallBitVector dropped = droppedDims(op);
  auto offsets = op.getMixedOffsets(), sizes = op.getMixedSizes(), strides = op.getMixedStrides();
  (void)c;
  for (unsigned dim = 0; dim < sizes.size(); ++dim) {
    // The sum is affine only for constant strides.
    std::optional<int64_t> stride = getConstantIntValue(view.strides[dim]);
    if (stride)
      result.offset = apply(builder, op.getLoc(), a + b * *stride, {result.offset, offsets[dim]});
    else
      result.offset = apply(builder, op.getLoc(), a + b * s0, {result.offset, offsets[dim], view.strides[dim]});
    if (dropped.test(dim))
      continue;
    result.sizes.push_back(sizes[dim]);
    std::optional<int64_t> step = getConstantIntValue(strides[dim]);
    result.strides.push_back(apply(builder, op.getLoc(), a * step.value_or(1), {view.strides[dim]}));
  }
  return result;
}

/// Collapses groups of dimensions, whose contiguity the op's verifier guarantees.
GlobalView merge(OpBuilder &builder, memref::CollapseShapeOp op, GlobalView view) {
  GlobalView result{view.argument, view.offset, {}, {}};
  AffineExpr a = builder.getAffineDimExpr(0);
  for (ArrayRef<int64_t> group : op.getReassociationIndices()) {
    OpFoldResult size = builder.getIndexAttr(1), stride = builder.getIndexAttr(1);
    for (int64_t dim : group) {
      std::optional<int64_t> extent = getConstantIntValue(view.sizes[dim]);
      if (extent)
        size = apply(builder, op.getLoc(), a * *extent, {size});
      else // at most one dimension of a group is dynamic
        size = apply(builder, op.getLoc(), a * getConstantIntValue(size).value_or(1), {view.sizes[dim]});
      if (extent != 1)
        stride = view.strides[dim];
    }
    result.sizes.push_back(size);
    result.strides.push_back(stride);
  }
  return result;
}

GlobalView split(OpBuilder &builder, memref::ExpandShapeOp op, GlobalView view) {
  GlobalView result{view.argument, view.offset, {}, {}};
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  AffineExpr a = builder.getAffineDimExpr(0);
  for (auto [from, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = view.strides[from];
    SmallVector<OpFoldResult> sizes, strides;
    for (int64_t dim : llvm::reverse(group)) {
      bool isDynamic = ShapedType::isDynamic(shape[dim]);
      sizes.insert(sizes.begin(), isDynamic ? view.sizes[from] : builder.getIndexAttr(shape[dim]));
      strides.insert(strides.begin(), stride);
      if (!isDynamic)
        stride = apply(builder, op.getLoc(), a * shape[dim], {stride});
    }
    result.sizes.append(sizes);
    result.strides.append(strides);
  }
  return result;
}

} // namespace

FailureOr<GlobalView> traceGlobal(OpBuilder &builder, Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    if (cast<MemRefType>(argument.getType()).hasStaticShape())
      return wholeArgument(builder, argument);
    return emitError(argument.getLoc(), "a kernel argument needs a static shape");
  }
  Operation *op = memref.getDefiningOp();
  if (!isa<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(op))
    return op->emitOpError("has no counterpart in global memory");
  FailureOr<GlobalView> source = traceGlobal(builder, op->getOperand(0));
  if (failed(source))
    return failure();
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return cut(builder, view, *source);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    return merge(builder, collapse, *source);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return split(builder, expand, *source);
  return source;
}

FailureOr<Value> makePartition(OpBuilder &builder, Location loc, const GlobalView &view, Value pointer, bool asColumn) {
  // Drop unit dimensions except the last, which is the tile's column.
  SmallVector<OpFoldResult> sizes, strides;
  for (unsigned dim = 0; dim < view.sizes.size(); ++dim) {
    bool isLast = dim + 1 == view.sizes.size();
    if (getConstantIntValue(view.sizes[dim]) == 1 && !(isLast && !asColumn))
      continue;
    sizes.push_back(view.sizes[dim]);
    strides.push_back(view.strides[dim]);
  }
  OpFoldResult one = builder.getIndexAttr(1);
  if (asColumn) {
    if (sizes.size() > 1)
      return emitError(loc, "a column vector in global memory needs one dimension"), failure();
    if (sizes.empty()) {
      sizes.push_back(one);
      strides.push_back(one);
    }
    sizes.push_back(one);
    strides.push_back(one);
  }
  while (sizes.size() < 2) {
    // Add a missing row dimension; its stride is never used.
    sizes.insert(sizes.begin(), one);
    strides.insert(strides.begin(), one);
  }
  if (sizes.size() > 5)
    return emitError(loc, "a part of global memory has more than five dimensions"), failure();
  if (getConstantIntValue(view.offset) != 0)
    pointer = builder.create<pto::AddPtrOp>(loc, pointer, getValueOrCreateConstantIndexOp(builder, loc, view.offset));
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  Type element = cast<pto::PtrType>(pointer.getType()).getElementType();
  SmallVector<Value> sizeValues = getValueOrCreateConstantIndexOp(builder, loc, sizes);
  SmallVector<Value> strideValues = getValueOrCreateConstantIndexOp(builder, loc, strides);
  auto layout = asColumn ? pto::LayoutAttr::get(builder.getContext(), pto::Layout::dn) : pto::LayoutAttr();
  Value whole = builder.create<pto::MakeTensorViewOp>(loc, pto::TensorViewType::get(shape, element), pointer,
                                                      sizeValues, strideValues, layout);
  Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
  SmallVector<Value> zeros(shape.size(), zero);
  return builder
      .create<pto::PartitionViewOp>(loc, pto::PartitionTensorViewType::get(shape, element), whole, zeros, sizeValues)
      .getResult();
}

} // namespace pto_mlir
