//===- Windows.cpp - depthwise convolution and pooling as 2-D generics ----===//
//
// A tile of a window op's output becomes a band of input pixels in the unified buffer and, for each output row and each
// kernel position, one generic [pixels, channels] that reads a shifted part of the band. The band is loaded once,
// padding included: its border is filled, and the loads are cut to the image. At a stride other than 1 there is a band
// for each phase (WindowTiling.h), loaded with strides, so that every shift is a run of neighbouring pixels.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "WindowExpander.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

/// Products that are added to each other before their sum is added to the other ones': the rounding error of a sum
/// grows with the number of its terms, and with how large the sum is that a term is added to.
constexpr int64_t kTapsInRun = 8;
/// Columns of a kernel up to which each has commands of its own; those of a wider one stand in a loop.
constexpr int64_t kUnrolledColumns = 40;

/// Elements of `tile` in the accumulator's type.
Value WindowExpander::convert(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType() == accType)
    return tile;
  Value init = rewriter.create<tensor::EmptyOp>(loc, type.getShape(), accType);
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  return rewriter
      .create<linalg::GenericOp>(loc, init.getType(), tile, init, ArrayRef<AffineMap>{map, map}, parallel,
                                 [&](OpBuilder &b, Location l, ValueRange args) {
                                   Value wide = b.create<arith::ExtFOp>(l, accType, args[0]);
                                   b.create<linalg::YieldOp>(l, wide);
                                 })
      .getResult(0);
}

/// A generic over [pixels, channels] whose body makes the element from the elements of `ins` (the last one, a filter, a
/// vector over the channels where `filtered`) and, last, of `init`.
Value WindowExpander::overPixels(ValueRange ins, Value init, bool filtered,
                                 llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  SmallVector<AffineMap> maps(ins.size() + 1, rewriter.getMultiDimIdentityMap(2));
  if (filtered)
    maps[ins.size() - 1] = AffineMap::get(2, 0, rewriter.getAffineDimExpr(1));
  SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
  return rewriter
      .create<linalg::GenericOp>(
          loc, init.getType(), ins, init, maps, parallel,
          [&](OpBuilder &b, Location l, ValueRange args) { b.create<linalg::YieldOp>(l, body(b, l, args)); })
      .getResult(0);
}

/// acc + column * filter, or acc combined with column for pooling.
Value WindowExpander::addTo(Value acc, Value column, Value filter) {
  SmallVector<Value> ins{column};
  if (filter)
    ins.push_back(filter);
  return overPixels(ins, acc, filter != nullptr, [&](OpBuilder &b, Location l, ValueRange args) -> Value {
    Value term = filter ? b.create<arith::MulFOp>(l, args[0], args[1]).getResult() : args[0];
    if (isMax)
      return b.create<arith::MaximumFOp>(l, args.back(), term);
    return b.create<arith::AddFOp>(l, args.back(), term);
  });
}

/// The first of two or more terms of a sum: column * filter.
Value WindowExpander::product(Value column, Value filter) {
  Value init = rewriter.create<tensor::EmptyOp>(loc, cast<RankedTensorType>(column.getType()).getShape(), accType);
  return overPixels({column, filter}, init, true, [](OpBuilder &b, Location l, ValueRange args) -> Value {
    return b.create<arith::MulFOp>(l, args[0], args[1]);
  });
}

/// A tensor of the image's type in the unified buffer, a copy of `copied` if given.
Value WindowExpander::local(ArrayRef<int64_t> shape, Value copied) {
  auto space = pto::AddressSpaceAttr::get(context, pto::AddressSpace::vec);
  Type element = copied ? cast<RankedTensorType>(copied.getType()).getElementType() : imageType.getElementType();
  return rewriter.create<bufferization::AllocTensorOp>(loc, RankedTensorType::get(shape, element), ValueRange(), copied,
                                                       Value(), space);
}

/// A tensor with `value` everywhere.
Value WindowExpander::filled(ArrayRef<int64_t> shape, TypedAttr value) {
  Value scalar = rewriter.create<arith::ConstantOp>(loc, value);
  Value init = rewriter.create<tensor::EmptyOp>(loc, shape, value.getType());
  return rewriter.create<linalg::FillOp>(loc, scalar, init).getResult(0);
}

Value WindowExpander::slice(Value source, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                            ArrayRef<int64_t> strides, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, cast<RankedTensorType>(source.getType()).getElementType());
  // memref.subview finds the dropped dimensions by the source's strides: a step along a dimension of size 1, or on the
  // way to one that is kept, would hide them.
  auto steps = llvm::map_to_vector(llvm::zip_equal(sizes, strides), [&](auto pair) -> OpFoldResult {
    return index(std::get<0>(pair) == 1 ? 1 : std::get<1>(pair));
  });
  SmallVector<OpFoldResult> from(offsets), extents = getAsIndexOpFoldResult(context, sizes);
  if (shape.size() < sizes.size() && llvm::is_contained(shape, 1) &&
      llvm::any_of(steps, [](OpFoldResult step) { return !isConstantIntValue(step, 1); })) {
    source = rewriter.create<tensor::ExtractSliceOp>(loc, source, from, extents, steps);
    from.assign(sizes.size(), index(0));
    steps.assign(sizes.size(), index(1));
  }
  return rewriter.create<tensor::ExtractSliceOp>(loc, type, source, from, extents, steps);
}

/// [KH, KW, channels] in the accumulator's type, loaded where the slice of the filter stands: outside of the loops that
/// it does not depend on.
Value WindowExpander::loadFilters() {
  OpBuilder::InsertionGuard guard(rewriter);
  Value filter = op.getDpsInputs()[1];
  rewriter.setInsertionPointAfterValue(filter);
  return convert(local({height.kernel, width.kernel, channels}, filter));
}

LogicalResult WindowExpander::analyse() {
  auto output = cast<RankedTensorType>(op->getResult(0).getType());
  FailureOr<WindowInput> traced = traceInput(op, op.getDpsInputs()[0]);
  if (failed(traced))
    return failure();
  input = *traced;
  imageType = cast<RankedTensorType>(input.image.getType());
  auto most = op->getAttrOfType<IntegerAttr>(kTileRowsAttr);
  ragged = output.isDynamicDim(1);
  if (output.getDimSize(0) != 1 || (ragged && !most) || output.isDynamicDim(2) || output.isDynamicDim(3) ||
      ShapedType::isDynamicShape(imageType.getShape().drop_front()))
    return op->emitOpError("was not tiled to a part of one image whose size is known");
  accType = output.getElementType();
  rows = ragged ? most.getInt() : output.getDimSize(1);
  cols = output.getDimSize(2);
  channels = output.getDimSize(3);
  imageRows = index(imageType.getDimSize(1));
  if (auto map = op->getAttrOfType<AffineMapAttr>(kImageRowsAttr)) {
    OpBuilder::InsertionGuard guard(rewriter);
    auto size = *op->getParentOfType<func::FuncOp>().getBody().front().getOps<pto::KernelSizeOp>().begin();
    rewriter.setInsertionPointAfter(size);
    imageRows = affine::makeComposedFoldedAffineApply(rewriter, loc, map.getValue(), {OpFoldResult(size.getResult())});
  }
  height = windowAxis(op, 0);
  width = windowAxis(op, 1);
  isConv = cast<RankedTensorType>(op.getDpsInputs()[1].getType()).getRank() == 3;
  isMax = isa<linalg::PoolingNhwcMaxOp>(op.getOperation());
  return success();
}

/// Adds what columns of one kernel row read from the bands' row `row`. The taps of a convolution are summed up to
/// kTapsInRun at a time before they meet `sum`.
Value WindowExpander::addTaps(Value sum, OpFoldResult row, OpFoldResult kernelRow, ArrayRef<Tap> taps,
                              const Bands &bands, Value filters) {
  Value run;
  for (auto [i, tap] : llvm::enumerate(taps)) {
    Value pixels = slice(bands.lookup(tap.phases), {row, tap.bandColumn, index(0)}, {1, cols, channels}, {1, 1, 1},
                         {cols, channels});
    if (!isConv) {
      sum = addTo(sum, pixels, Value());
      continue;
    }
    Value filter = slice(filters, {kernelRow, tap.kernelColumn, index(0)}, {1, 1, channels}, {1, 1, 1}, {channels});
    bool last = i + 1 == taps.size();
    if (!run && last) {
      sum = addTo(sum, pixels, filter);
      continue;
    }
    run = run ? addTo(run, pixels, filter) : product(pixels, filter);
    if (last || (i + 1) % kTapsInRun == 0)
      sum = addTo(sum, std::exchange(run, Value()), Value());
  }
  return sum;
}

/// Adds what one kernel row of phase `phase` reads.
Value WindowExpander::addKernelColumns(Value sum, OpFoldResult row, OpFoldResult kernelRow, int64_t phase,
                                       const Bands &bands, Value filters) {
  if (width.kernel <= kUnrolledColumns) {
    SmallVector<Tap> taps;
    for (int64_t kw = 0; kw < width.kernel; ++kw)
      taps.push_back({{phase, width.phase(kw)}, index(width.shift(kw)), index(kw)});
    return addTaps(sum, row, kernelRow, taps, bands, filters);
  }
  for (int64_t phaseW = 0; phaseW < width.stride; ++phaseW) {
    PhaseTaps columns = width.taps(phaseW);
    // `first` is the number of a run of them.
    auto run = [&](Value into, OpFoldResult first, int64_t count) {
      SmallVector<Tap> taps;
      for (int64_t i = 0; i < count; ++i) {
        AffineExpr number = rewriter.getAffineDimExpr(0) * kTapsInRun + i;
        auto at = [&](int64_t begin, int64_t distance) {
          return affine::makeComposedFoldedAffineApply(rewriter, loc, number * distance + begin, {first});
        };
        taps.push_back({{phase, phaseW}, at(columns.firstShift, columns.shiftStep), at(columns.first, columns.step)});
      }
      return addTaps(into, row, kernelRow, taps, bands, filters);
    };
    int64_t whole = columns.count / kTapsInRun, rest = columns.count % kTapsInRun;
    if (whole > 0) {
      auto constant = [&](int64_t value) { return rewriter.create<arith::ConstantIndexOp>(loc, value).getResult(); };
      auto loop = rewriter.create<scf::ForOp>(loc, constant(0), constant(whole), constant(1), sum);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      rewriter.create<scf::YieldOp>(loc, run(loop.getRegionIterArg(0), loop.getInductionVar(), kTapsInRun));
      sum = loop.getResult(0);
    }
    sum = run(sum, index(whole), rest);
  }
  return sum;
}

/// Adds what the kernel rows of one phase read for output row `row`. They stand in a loop: their commands are written
/// once.
Value WindowExpander::addKernelRows(Value acc, Value row, int64_t phase, const Bands &bands, Value filters) {
  PhaseTaps taps = height.taps(phase);
  if (taps.count == 0)
    return acc;
  auto addRow = [&](Value sum, OpFoldResult step) {
    AffineExpr d0 = rewriter.getAffineDimExpr(0), d1 = rewriter.getAffineDimExpr(1);
    OpFoldResult bandRow = affine::makeComposedFoldedAffineApply(
        rewriter, loc, d0 + d1 * taps.shiftStep + taps.firstShift, {OpFoldResult(row), step});
    OpFoldResult kh = affine::makeComposedFoldedAffineApply(rewriter, loc, d0 * taps.step + taps.first, {step});
    return addKernelColumns(sum, bandRow, kh, phase, bands, filters);
  };
  if (taps.count == 1)
    return addRow(acc, index(0));
  auto constant = [&](int64_t value) { return rewriter.create<arith::ConstantIndexOp>(loc, value).getResult(); };
  auto loop = rewriter.create<scf::ForOp>(loc, constant(0), constant(taps.count), constant(1), acc);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  rewriter.create<scf::YieldOp>(loc, addRow(loop.getRegionIterArg(0), OpFoldResult(loop.getInductionVar())));
  return loop.getResult(0);
}

LogicalResult WindowExpander::expand() {
  if (failed(analyse()))
    return failure();
  Value filters = isConv ? loadFilters() : Value();
  rewriter.setInsertionPoint(op);
  if (input.producer)
    for (OpOperand *operand : input.producer.getDpsInputOperands())
      channelInputs.push_back(input.producer.getMatchingIndexingMap(operand).getNumResults() == 1
                                  ? slice(operand->get(), {input.offsets[3]}, {channels}, {1}, {channels})
                                  : Value());
  Bands bands;
  for (int64_t ph = 0; ph < height.stride; ++ph)
    for (int64_t pw = 0; pw < width.stride; ++pw)
      if (height.reach(ph) >= 0 && width.reach(pw) >= 0)
        bands[{ph, pw}] = loadBand(ph, pw);

  Value init = op.getDpsInits()[0];
  Value zero = rewriter.create<arith::ConstantIndexOp>(loc, 0), one = rewriter.create<arith::ConstantIndexOp>(loc, 1);
  Value count = ragged ? rewriter.create<tensor::DimOp>(loc, init, 1).getResult()
                       : rewriter.create<arith::ConstantIndexOp>(loc, rows).getResult();
  auto loop = rewriter.create<scf::ForOp>(loc, zero, count, one, init);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar(), whole = loop.getRegionIterArg(0);
    SmallVector<OpFoldResult> place{index(0), row, index(0), index(0)};
    Value acc = slice(whole, place, {1, 1, cols, channels}, {1, 1, 1, 1}, {cols, channels});
    // The bias comes last: it may be larger than what is added up.
    Value sum = isConv ? filled({cols, channels}, rewriter.getFloatAttr(accType, 0)) : acc;
    for (int64_t phase = 0; phase < height.stride; ++phase)
      sum = addKernelRows(sum, row, phase, bands, filters);
    acc = isConv ? addTo(acc, sum, Value()) : sum;
    Value inserted = rewriter.create<tensor::InsertSliceOp>(loc, acc, whole, place,
                                                            getAsIndexOpFoldResult(context, {1, 1, cols, channels}),
                                                            getAsIndexOpFoldResult(context, {1, 1, 1, 1}));
    rewriter.create<scf::YieldOp>(loc, inserted);
  }
  rewriter.replaceOp(op, loop.getResult(0));
  return success();
}

LogicalResult expandWindows(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> windows;
  func.walk([&](linalg::LinalgOp op) {
    if (isWindowOp(op))
      windows.push_back(op);
  });
  IRRewriter rewriter(func.getContext());
  for (linalg::LinalgOp op : windows)
    if (failed(WindowExpander(op, rewriter).expand()))
      return failure();
  // The padded image and its slices have no reader left.
  SmallVector<Operation *> ops;
  func.walk<WalkOrder::PreOrder>([&](tensor::PadOp op) { ops.push_back(op); });
  func.walk([&](tensor::ExtractSliceOp op) { ops.push_back(op); });
  func.walk([&](linalg::GenericOp op) {
    if (op->hasAttr(kWindowInputAttr))
      ops.insert(ops.begin(), op);
  });
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      rewriter.eraseOp(op);
  return success();
}

} // namespace pto_mlir::vector_kernels
