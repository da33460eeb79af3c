//===- Movement.cpp - slices, concatenations and paddings as copies -------===//
//
// A kernel of pure movement becomes copies between slices of its arguments,
// written as linalg.generic so that they are tiled like everything else. Shapes
// stay as they are: a slice is not contiguous, its dimensions do not merge.
// A gather is in GatherRows.cpp.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

Value createCopy(OpBuilder &rewriter, Location loc, Value source, Value destination) {
  auto type = cast<RankedTensorType>(destination.getType());
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  return rewriter
      .create<linalg::GenericOp>(
          loc, type, source, destination, ArrayRef<AffineMap>{map, map}, parallel,
          [](OpBuilder &b, Location l, ValueRange args) { b.create<linalg::YieldOp>(l, args[0]); })
      .getResult(0);
}

namespace {

/// Copies `source` into `destination` at `offsets`; returns the new destination.
Value copyInto(IRRewriter &rewriter, Location loc, Value source, Value destination, ArrayRef<OpFoldResult> offsets) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
  Value slice = rewriter.create<tensor::ExtractSliceOp>(loc, type, destination, offsets, sizes, strides);
  Value filled = createCopy(rewriter, loc, source, slice);
  return rewriter.create<tensor::InsertSliceOp>(loc, filled, destination, offsets, sizes, strides);
}

/// Fills what `pad` adds around its source, slab by slab: disjoint parts, which cores can share without waiting.
Value fillBorder(IRRewriter &rewriter, tensor::PadOp pad, Value value, Value destination) {
  Location loc = pad.getLoc();
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh(), inner = pad.getSourceType().getShape(),
                    outer = pad.getResultType().getShape();
  SmallVector<int64_t> offsets(outer.size(), 0), sizes(outer), ones(outer.size(), 1);
  for (size_t dim = 0; dim < outer.size(); ++dim) {
    for (auto [offset, size] : {std::pair(int64_t(0), low[dim]), std::pair(low[dim] + inner[dim], high[dim])}) {
      if (size == 0)
        continue;
      offsets[dim] = offset;
      sizes[dim] = size;
      auto mixed = [&](ArrayRef<int64_t> list) { return getAsIndexOpFoldResult(rewriter.getContext(), list); };
      Value slab = rewriter.create<tensor::ExtractSliceOp>(loc, destination, mixed(offsets), mixed(sizes), mixed(ones));
      Value filled = rewriter.create<linalg::FillOp>(loc, value, slab).getResult(0);
      destination =
          rewriter.create<tensor::InsertSliceOp>(loc, filled, destination, mixed(offsets), mixed(sizes), mixed(ones));
    }
    // The slabs of the other dimensions lie beside the source.
    offsets[dim] = low[dim];
    sizes[dim] = inner[dim];
  }
  return destination;
}

} // namespace

FailureOr<bool> lowerMovement(func::FuncOp func) {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  if (ret.getNumOperands() != 1)
    return false;
  Operation *op = ret.getOperand(0).getDefiningOp();
  if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op); generic && gathersRows(generic)) {
    if (failed(lowerGather(func, generic)))
      return failure();
    return true;
  }
  if (auto write = dyn_cast_or_null<top::StateWriteOp>(op)) {
    if (failed(lowerStateWrite(func, write)))
      return failure();
    return true;
  }
  if (!isa_and_nonnull<tensor::ExtractSliceOp, tensor::ConcatOp, tensor::PadOp, linalg::CopyOp>(op))
    return false;
  Value out = func.getArguments().back();
  auto type = cast<RankedTensorType>(out.getType());
  if (!type.hasStaticShape() || type != op->getResult(0).getType())
    return op->emitOpError("expects the output argument to have its result type");
  Location loc = op->getLoc();
  IRRewriter rewriter(func.getContext());
  rewriter.setInsertionPoint(ret);
  Value result;
  if (isa<tensor::ExtractSliceOp>(op)) {
    result = createCopy(rewriter, loc, op->getResult(0), out);
  } else if (auto copy = dyn_cast<linalg::CopyOp>(op)) {
    result = createCopy(rewriter, loc, copy.getDpsInputs()[0], out);
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    int64_t offset = 0, dim = concat.getDim();
    result = out;
    for (Value input : concat.getInputs()) {
      offsets[dim] = rewriter.getIndexAttr(offset);
      result = copyInto(rewriter, loc, input, result, offsets);
      offset += cast<RankedTensorType>(input.getType()).getDimSize(dim);
    }
    func->setAttr(kDisjointNestsAttr, rewriter.getUnitAttr());
  } else {
    auto pad = cast<tensor::PadOp>(op);
    Value value = pad.getConstantPaddingValue();
    if (!value || llvm::any_of(pad.getStaticLow(), [](int64_t p) { return p < 0; }) ||
        llvm::any_of(pad.getStaticHigh(), [](int64_t p) { return p < 0; }))
      return pad.emitOpError("needs a constant value and static widths of at least zero");
    // The constant may lie in the padding region; a copy stands here.
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      value = rewriter.create<arith::ConstantOp>(loc, constant.getValue());
    result = copyInto(rewriter, loc, pad.getSource(), fillBorder(rewriter, pad, value, out), pad.getMixedLowPad());
    func->setAttr(kDisjointNestsAttr, rewriter.getUnitAttr());
  }
  ret.setOperand(0, result);
  if (op->use_empty())
    rewriter.eraseOp(op);
  return true;
}

} // namespace pto_mlir::vector_kernels
