//===- WindowBands.cpp - what the tiles of a window op read ---------------===//
//
// A band holds the pixels of one phase that a tile reads, padding included: its border is filled, and the loads are cut
// to the image.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "WindowExpander.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {

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

} // namespace pto_mlir::vector_kernels
