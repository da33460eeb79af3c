//===- Windows.cpp - depthwise convolution and pooling as 2-D generics ----===//
//
// A tile of a window op's output becomes a band of input pixels in the unified buffer and, for each output row and each
// kernel position, one generic [pixels, channels] that reads a shifted part of the band. The band is loaded once,
// padding included: its border is filled, and the loads are cut to the image. At a stride other than 1 there is a band
// for each phase (WindowTiling.h), loaded with strides, so that every shift is a run of neighbouring pixels.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "WindowTiling.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

/// Products that are added to each other before their sum is added to the other ones': the rounding error of a sum
/// grows with the number of its terms, and with how large the sum is that a term is added to.
constexpr int64_t kTapsInRun = 8;
/// Columns of a kernel up to which each has commands of its own; those of a wider one stand in a loop.
constexpr int64_t kUnrolledColumns = 40;

/// The window op's input as an image and where this op's first pixel lies in it,
/// in the coordinates of the padded image.
struct WindowInput {
  Value image;
  linalg::GenericOp producer; ///< what makes the image out of arguments, pixel by pixel; may be null
  SmallVector<OpFoldResult> offsets;
  int64_t padTop = 0, padLeft = 0, padBottom = 0, padRight = 0;
  Attribute padValue;
};

FailureOr<WindowInput> traceInput(Operation *op, Value input) {
  WindowInput result;
  Builder builder(op->getContext());
  result.offsets.assign(4, builder.getIndexAttr(0));
  if (auto slice = input.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (!slice.hasUnitStride() || slice.getType().getRank() != slice.getSourceType().getRank())
      return op->emitOpError("reads its input through an unexpected slice");
    result.offsets = slice.getMixedOffsets();
    input = slice.getSource();
  }
  if (auto pad = input.getDefiningOp<tensor::PadOp>()) {
    Value value = pad.getConstantPaddingValue();
    ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
    bool spatial = low[0] == 0 && high[0] == 0 && low[3] == 0 && high[3] == 0;
    if (!value || !matchPattern(value, m_Constant(&result.padValue)) || !spatial ||
        llvm::any_of(low, [](int64_t p) { return p < 0; }) || llvm::any_of(high, [](int64_t p) { return p < 0; }))
      return op->emitOpError("needs a padding by a constant, at least zero, of rows and columns only");
    result.padTop = low[1];
    result.padLeft = low[2];
    result.padBottom = high[1];
    result.padRight = high[2];
    if (result.padTop == 0 && result.padLeft == 0 && result.padBottom == 0 && result.padRight == 0)
      result.padValue = {};
    input = pad.getSource();
  }
  result.image = input;
  result.producer = input.getDefiningOp<linalg::GenericOp>();
  if (result.producer && !result.producer->hasAttr(kWindowInputAttr))
    return op->emitOpError("reads an input that is computed in the same kernel, but not pixel by pixel");
  return result;
}

/// Output columns whose tiles read the same columns of their band from the image.
struct ColumnRun {
  int64_t first, last; ///< output columns of the tiles' origins: first <= origin < last
  int64_t low, high;   ///< band columns that lie in the image
};

/// Builds the expansion of one window op.
class WindowExpander {
public:
  WindowExpander(linalg::LinalgOp op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()), context(op.getContext()) {}
  LogicalResult expand();

private:
  using Bands = llvm::DenseMap<std::pair<int64_t, int64_t>, Value>; ///< by phase of the row and of the column
  /// A column of the kernel: the phases of its pixels, and their first column in the band of these.
  struct Tap {
    std::pair<int64_t, int64_t> phases;
    OpFoldResult bandColumn, kernelColumn;
  };

  LogicalResult analyse();
  Value overPixels(ValueRange ins, Value init, bool filtered,
                   llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body);
  Value addTo(Value acc, Value column, Value filter);
  Value product(Value column, Value filter);
  Value convert(Value tile);
  Value local(ArrayRef<int64_t> shape, Value copied = Value());
  Value filled(ArrayRef<int64_t> shape, TypedAttr value);
  Value loadFilters();
  Value loadBand(int64_t phaseH, int64_t phaseW);
  Value addTaps(Value sum, OpFoldResult row, OpFoldResult kernelRow, ArrayRef<Tap> taps, const Bands &bands,
                Value filters);
  Value addKernelColumns(Value sum, OpFoldResult row, OpFoldResult kernelRow, int64_t phase, const Bands &bands,
                         Value filters);
  Value addKernelRows(Value acc, Value row, int64_t phase, const Bands &bands, Value filters);
  Value loadRows(Value band, int64_t phaseH, int64_t phaseW, const ColumnRun &run, bool only);
  Value apply(ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides, Value destination);
  SmallVector<ColumnRun> columnRuns(int64_t phaseW, int64_t bandCols);
  OpFoldResult index(int64_t value) { return rewriter.getIndexAttr(value); }
  Value slice(Value source, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
              ArrayRef<int64_t> shape);

  linalg::LinalgOp op;
  IRRewriter &rewriter;
  Location loc;
  MLIRContext *context;
  WindowInput input;
  SmallVector<Value> channelInputs; ///< of the producer, by operand: its part of a vector over the channels
  WindowAxis height, width;
  RankedTensorType imageType;
  OpFoldResult imageRows;
  Type accType;
  int64_t channels = 0, rows = 0, cols = 0; ///< of the output tile
  bool ragged = false;                      ///< `rows` is an upper bound
  bool isConv = false, isMax = false;
};

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

/// The producer's body on a row of pixels, [pixels, channels], computed in `destination`.
Value WindowExpander::apply(ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                            Value destination) {
  linalg::GenericOp producer = input.producer;
  auto shape = cast<RankedTensorType>(destination.getType()).getShape();
  AffineMap pixels = rewriter.getMultiDimIdentityMap(2), vector = AffineMap::get(2, 0, rewriter.getAffineDimExpr(1));
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : producer.getDpsInputOperands()) {
    AffineMap map = producer.getMatchingIndexingMap(operand);
    if (map.isIdentity()) {
      ins.push_back(slice(operand->get(), offsets, sizes, strides, shape));
      maps.push_back(pixels);
    } else if (map.getNumResults() == 1) {
      ins.push_back(channelInputs[operand->getOperandNumber()]);
      maps.push_back(vector);
    } else {
      ins.push_back(operand->get());
      maps.push_back(AffineMap::get(2, 0, context));
    }
  }
  maps.push_back(pixels);
  SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
  auto row =
      rewriter.create<linalg::GenericOp>(producer.getLoc(), destination.getType(), ins, destination, maps, parallel);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.cloneRegionBefore(producer.getRegion(), row.getRegion(), row.getRegion().begin());
  return row.getResult(0);
}

/// [KH, KW, channels] in the accumulator's type, loaded where the slice of the filter stands: outside of the loops that
/// it does not depend on.
Value WindowExpander::loadFilters() {
  OpBuilder::InsertionGuard guard(rewriter);
  Value filter = op.getDpsInputs()[1];
  rewriter.setInsertionPointAfterValue(filter);
  return convert(local({height.kernel, width.kernel, channels}, filter));
}

/// The tiles' origins, grouped by which columns of the band of `phaseW` lie in the image.
SmallVector<ColumnRun> WindowExpander::columnRuns(int64_t phaseW, int64_t bandCols) {
  int64_t imageWidth = imageType.getDimSize(2);
  bool whole = getConstantIntValue(input.offsets[2]).has_value();
  int64_t start = whole ? *getConstantIntValue(input.offsets[2]) / width.stride : 0;
  // All origins that tiling makes: multiples of the tile's width up to where the padded image ends.
  int64_t paddedWidth = imageWidth + input.padLeft + input.padRight;
  int64_t outputs = (paddedWidth - (width.kernel - 1) * width.dilation - 1) / width.stride + 1;
  SmallVector<ColumnRun> runs;
  for (int64_t origin = start; origin < (whole ? start + 1 : outputs); origin += cols) {
    // Band column j is image column first + j * stride.
    int64_t first = origin * width.stride + phaseW - input.padLeft;
    int64_t low = first < 0 ? llvm::divideCeil(-first, width.stride) : 0;
    int64_t high = imageWidth - 1 - first < 0 ? 0 : (imageWidth - 1 - first) / width.stride + 1;
    low = std::min(low, bandCols);
    high = std::max(std::min(high, bandCols), low);
    if (!runs.empty() && runs.back().low == low && runs.back().high == high)
      runs.back().last = origin + cols;
    else
      runs.push_back({origin, origin + cols, low, high});
  }
  return runs;
}

/// Loads the rows of the band that lie in the image, one command each, for the tiles of `run`.
Value WindowExpander::loadRows(Value band, int64_t phaseH, int64_t phaseW, const ColumnRun &run, bool only) {
  auto type = cast<RankedTensorType>(band.getType());
  int64_t bandRows = type.getDimSize(0), count = run.high - run.low;
  if (count == 0)
    return band;
  AffineExpr d0 = rewriter.getAffineDimExpr(0), d1 = rewriter.getAffineDimExpr(1);
  auto number = [&](int64_t value) { return rewriter.getAffineConstantExpr(value); };
  // Band row i is image row first + i * stride.
  OpFoldResult top = input.offsets[1];
  int64_t shift = phaseH - input.padTop;
  OpFoldResult lower = affine::makeComposedFoldedAffineMax(
      rewriter, loc, AffineMap::get(1, 0, {number(0), (-d0 - shift).ceilDiv(height.stride)}, context), {top});
  OpFoldResult upper = affine::makeComposedFoldedAffineMin(
      rewriter, loc, AffineMap::get(2, 0, {number(bandRows), (-d0 + d1 - shift).ceilDiv(height.stride)}, context),
      {top, imageRows});
  Value begin = getValueOrCreateConstantIndexOp(rewriter, loc, lower);
  Value end = getValueOrCreateConstantIndexOp(rewriter, loc, upper);
  if (!only) {
    // Other tiles find an empty loop.
    Value origin = getValueOrCreateConstantIndexOp(rewriter, loc, input.offsets[2]);
    auto limit = [&](int64_t column) -> Value {
      return rewriter.create<arith::ConstantIndexOp>(loc, column * width.stride);
    };
    Value reached = rewriter.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, origin, limit(run.first));
    end = rewriter.create<arith::SelectOp>(loc, reached, end, begin);
    Value before = rewriter.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, origin, limit(run.last));
    end = rewriter.create<arith::SelectOp>(loc, before, end, begin);
  }
  Value one = rewriter.create<arith::ConstantIndexOp>(loc, 1);
  auto loop = rewriter.create<scf::ForOp>(loc, begin, end, one, band);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  OpFoldResult row = affine::makeComposedFoldedAffineApply(rewriter, loc, d0 + d1 * height.stride + shift,
                                                           {top, loop.getInductionVar()});
  OpFoldResult column = affine::makeComposedFoldedAffineApply(
      rewriter, loc, d0 + (run.low * width.stride + phaseW - input.padLeft), {input.offsets[2]});
  SmallVector<OpFoldResult> from{input.offsets[0], row, column, input.offsets[3]},
      to{loop.getInductionVar(), index(run.low), index(0)};
  SmallVector<int64_t> sizes{1, 1, count, channels}, steps{1, 1, width.stride, 1};
  Value loaded = input.producer
                     ? apply(from, sizes, steps,
                             slice(loop.getRegionIterArg(0), to, {1, count, channels}, {1, 1, 1}, {count, channels}))
                     : slice(input.image, from, sizes, steps, {count, channels});
  Value inserted = rewriter.create<tensor::InsertSliceOp>(
      loc, loaded, loop.getRegionIterArg(0), to, ArrayRef<OpFoldResult>{index(1), index(count), index(channels)},
      ArrayRef<OpFoldResult>{index(1), index(1), index(1)});
  rewriter.create<scf::YieldOp>(loc, inserted);
  return loop.getResult(0);
}

Value WindowExpander::loadBand(int64_t phaseH, int64_t phaseW) {
  int64_t bandRows = rows + height.reach(phaseH), bandCols = cols + width.reach(phaseW);
  SmallVector<int64_t> shape{bandRows, bandCols, channels};
  SmallVector<ColumnRun> runs = columnRuns(phaseW, bandCols);
  bool allColumns = runs.size() == 1 && runs[0].low == 0 && runs[0].high == bandCols;
  bool allRows = input.padTop == 0 && input.padBottom == 0 && !ragged;
  if (allColumns && allRows && !input.producer) {
    AffineExpr d0 = rewriter.getAffineDimExpr(0);
    OpFoldResult row = affine::makeComposedFoldedAffineApply(rewriter, loc, d0 + phaseH, {input.offsets[1]});
    OpFoldResult column =
        affine::makeComposedFoldedAffineApply(rewriter, loc, d0 + (phaseW - input.padLeft), {input.offsets[2]});
    Value part = slice(input.image, {input.offsets[0], row, column, input.offsets[3]},
                       {1, bandRows, bandCols, channels}, {1, height.stride, width.stride, 1}, shape);
    return convert(local(shape, part));
  }
  Value band = input.padValue ? filled(shape, cast<TypedAttr>(input.padValue)) : local(shape);
  for (const ColumnRun &run : runs)
    band = loadRows(band, phaseH, phaseW, run, runs.size() == 1);
  return convert(band);
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
    SmallVector<int64_t> columns;
    for (int64_t kw = 0; kw < width.kernel; ++kw)
      if (width.phase(kw) == phaseW)
        columns.push_back(kw);
    // The columns of a phase lie evenly, in the kernel and in the band; `first` is the number of a run of them.
    auto run = [&](Value into, OpFoldResult first, int64_t count) {
      SmallVector<Tap> taps;
      for (int64_t i = 0; i < count; ++i) {
        AffineExpr number = rewriter.getAffineDimExpr(0) * kTapsInRun + i;
        int64_t step = columns.size() > 1 ? columns[1] - columns[0] : 0;
        int64_t shift = columns.size() > 1 ? width.shift(columns[1]) - width.shift(columns[0]) : 0;
        auto at = [&](int64_t begin, int64_t distance) {
          return affine::makeComposedFoldedAffineApply(rewriter, loc, number * distance + begin, {first});
        };
        taps.push_back({{phase, phaseW}, at(width.shift(columns[0]), shift), at(columns[0], step)});
      }
      return addTaps(into, row, kernelRow, taps, bands, filters);
    };
    int64_t whole = columns.size() / kTapsInRun, rest = columns.size() % kTapsInRun;
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
  SmallVector<int64_t> taps;
  for (int64_t kh = 0; kh < height.kernel; ++kh)
    if (height.phase(kh) == phase)
      taps.push_back(kh);
  if (taps.empty())
    return acc;
  // The rows of a phase lie evenly, in the kernel and in the band.
  int64_t tapStep = taps.size() > 1 ? taps[1] - taps[0] : 0;
  int64_t shiftStep = taps.size() > 1 ? height.shift(taps[1]) - height.shift(taps[0]) : 0;
  auto addRow = [&](Value sum, OpFoldResult step) {
    AffineExpr d0 = rewriter.getAffineDimExpr(0), d1 = rewriter.getAffineDimExpr(1);
    OpFoldResult bandRow = affine::makeComposedFoldedAffineApply(
        rewriter, loc, d0 + d1 * shiftStep + height.shift(taps[0]), {OpFoldResult(row), step});
    OpFoldResult kh = affine::makeComposedFoldedAffineApply(rewriter, loc, d0 * tapStep + taps[0], {step});
    return addKernelColumns(sum, bandRow, kh, phase, bands, filters);
  };
  if (taps.size() == 1)
    return addRow(acc, index(0));
  auto constant = [&](int64_t value) { return rewriter.create<arith::ConstantIndexOp>(loc, value).getResult(); };
  auto loop = rewriter.create<scf::ForOp>(loc, constant(0), constant(taps.size()), constant(1), acc);
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

} // namespace

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
