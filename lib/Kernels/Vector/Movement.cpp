//===- Movement.cpp - slices, concatenations and paddings as copies -------===//
//
// A kernel of pure movement becomes copies between slices of its arguments,
// written as linalg.generic so that they are tiled like everything else. Shapes
// stay as they are: a slice is not contiguous, its dimensions do not merge.
// A gather is in GatherRows.cpp.
//
//===----------------------------------------------------------------------===//

#include "../Sizes/Extents.h"
#include "Phases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

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

using Mixed = SmallVector<OpFoldResult>;

/// Copies parts of a kernel's arguments into its output. Of a tensor with a size at run time there are fewer rows than
/// its type says.
class Mover {
public:
  explicit Mover(func::FuncOp func)
      : func(func), out(func.getArguments().back()), rewriter(func.getContext()), analysis(func), extents(func) {}

  /// The copies that `op` stands for. An error where it is none, or its sizes have no rule.
  LogicalResult lower(Operation *op);

private:
  Mixed zeros() { return Mixed(outType().getRank(), rewriter.getIndexAttr(0)); }
  Mixed ones() { return Mixed(outType().getRank(), rewriter.getIndexAttr(1)); }
  RankedTensorType outType() { return cast<RankedTensorType>(out.getType()); }
  Mixed sizesOf(Value value) { return extents.of(analysis.of(value)); }
  Value existing(Value value);
  /// Where in the output a part begins.
  using Place = SmallVector<int64_t>;
  FailureOr<Value> put(Value source, Value destination, const Place &place);
  Value copyInto(Location loc, Value source, Value destination, const Mixed &offsets);
  Value fillBorder(tensor::PadOp pad, Value value, Value destination, const Place &place);
  FailureOr<Value> lowerPad(tensor::PadOp pad, Value destination, const Place &place);
  FailureOr<Value> lowerConcat(tensor::ConcatOp concat, Value destination, const Place &place);

  func::FuncOp func;
  Value out;
  IRRewriter rewriter;
  kernels::SizeAnalysis analysis;
  kernels::Extents extents;
};

/// The rows of `value` that there are.
Value Mover::existing(Value value) {
  if (!analysis.isSymbolic(value))
    return value;
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return rewriter.create<tensor::ExtractSliceOp>(slice.getLoc(), slice.getSource(), slice.getMixedOffsets(),
                                                   sizesOf(value), slice.getMixedStrides());
  return rewriter.create<tensor::ExtractSliceOp>(value.getLoc(), value, zeros(), sizesOf(value), ones());
}

/// Copies `source` into `destination` at `offsets`; returns the new destination.
Value Mover::copyInto(Location loc, Value source, Value destination, const Mixed &offsets) {
  Mixed sizes = sizesOf(source);
  source = existing(source);
  Value slice = rewriter.create<tensor::ExtractSliceOp>(loc, cast<RankedTensorType>(source.getType()), destination,
                                                        offsets, sizes, ones());
  Value filled = createCopy(rewriter, loc, source, slice);
  return rewriter.create<tensor::InsertSliceOp>(loc, filled, destination, offsets, sizes, ones());
}

/// Copies what `source` is made of to `place` in `destination`; returns the new destination.
FailureOr<Value> Mover::put(Value source, Value destination, const Place &place) {
  if (auto concat = source.getDefiningOp<tensor::ConcatOp>())
    return lowerConcat(concat, destination, place);
  if (auto pad = source.getDefiningOp<tensor::PadOp>())
    return lowerPad(pad, destination, place);
  return copyInto(source.getLoc(), source, destination, getAsIndexOpFoldResult(rewriter.getContext(), place));
}

/// Fills what `pad` adds around its source, slab by slab: disjoint parts, which cores can share without waiting.
Value Mover::fillBorder(tensor::PadOp pad, Value value, Value destination, const Place &place) {
  Location loc = pad.getLoc();
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh(), inner = pad.getSourceType().getShape();
  Mixed offsets = getAsIndexOpFoldResult(rewriter.getContext(), place), sizes = sizesOf(pad.getResult()),
        innerSizes = sizesOf(pad.getSource());
  for (size_t dim = 0; dim < inner.size(); ++dim) {
    for (auto [offset, size] : {std::pair(int64_t(0), low[dim]), std::pair(low[dim] + inner[dim], high[dim])}) {
      if (size == 0)
        continue;
      offsets[dim] = rewriter.getIndexAttr(place[dim] + offset);
      sizes[dim] = rewriter.getIndexAttr(size);
      Value slab = rewriter.create<tensor::ExtractSliceOp>(loc, destination, offsets, sizes, ones());
      Value filled = rewriter.create<linalg::FillOp>(loc, value, slab).getResult(0);
      destination = rewriter.create<tensor::InsertSliceOp>(loc, filled, destination, offsets, sizes, ones());
    }
    // The slabs of the other dimensions lie beside the source.
    offsets[dim] = rewriter.getIndexAttr(place[dim] + low[dim]);
    sizes[dim] = innerSizes[dim];
  }
  return destination;
}

FailureOr<Value> Mover::lowerPad(tensor::PadOp pad, Value destination, const Place &place) {
  Value value = pad.getConstantPaddingValue();
  if (!value || llvm::any_of(pad.getStaticLow(), [](int64_t p) { return p < 0; }) ||
      llvm::any_of(pad.getStaticHigh(), [](int64_t p) { return p < 0; }))
    return pad.emitOpError("needs a constant value and static widths of at least zero");
  // The constant may lie in the padding region; a copy stands here.
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    value = rewriter.create<arith::ConstantOp>(pad.getLoc(), constant.getValue());
  Place inner = place;
  for (auto [offset, low] : llvm::zip_equal(inner, pad.getStaticLow()))
    offset += low;
  return put(pad.getSource(), fillBorder(pad, value, destination, place), inner);
}

FailureOr<Value> Mover::lowerConcat(tensor::ConcatOp concat, Value destination, const Place &place) {
  Place at = place;
  for (Value input : concat.getInputs()) {
    FailureOr<Value> result = put(input, destination, at);
    if (failed(result))
      return failure();
    destination = *result;
    at[concat.getDim()] += cast<RankedTensorType>(input.getType()).getDimSize(concat.getDim());
  }
  return destination;
}

LogicalResult Mover::lower(Operation *op) {
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  if (!outType().hasStaticShape() || outType() != op->getResult(0).getType())
    return op->emitOpError("expects the output argument to have its result type");
  for (Operation &step : func.getBody().front())
    if (failed(analysis.visit(&step)))
      return failure();
  kernels::Sizes sizes = analysis.of(op->getResult(0));
  bool sized = !kernels::areConstant(sizes);
  if (sized)
    func->setAttr(pto::kGreatestRowsAttr,
                  rewriter.getI64IntegerAttr(extents.greatest(sizes[*kernels::symbolicRow(sizes)])));
  rewriter.setInsertionPoint(ret);
  FailureOr<Value> result;
  if (isa<tensor::ConcatOp, tensor::PadOp>(op)) {
    result = put(op->getResult(0), out, Place(outType().getRank(), 0));
  } else {
    auto copy = dyn_cast<linalg::CopyOp>(op);
    Value source = copy ? copy.getDpsInputs()[0] : op->getResult(0);
    result = sized ? copyInto(op->getLoc(), source, out, zeros()) : createCopy(rewriter, op->getLoc(), source, out);
  }
  if (failed(result))
    return failure();
  if (isa<tensor::ConcatOp, tensor::PadOp>(op))
    func->setAttr(kDisjointNestsAttr, rewriter.getUnitAttr());
  ret.setOperand(0, *result);
  for (Operation &moved : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isa<tensor::ExtractSliceOp, tensor::ConcatOp, tensor::PadOp, linalg::CopyOp>(moved) && moved.use_empty())
      rewriter.eraseOp(&moved);
  return success();
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
  if (failed(Mover(func).lower(op)))
    return failure();
  return true;
}

} // namespace pto_mlir::vector_kernels
