//===- Windows.cpp - depthwise convolution and pooling as 2-D generics ----===//
//
// A window op on one output row becomes a loop over the kernel rows that lie in
// the image (its bounds replace the padding above and below) with one generic
// [pixels, channels] per kernel column. At column stride 1 the columns are
// shifted row subsets of one input row with its halo; at other strides each
// column is a strided load of its own. Only the pixels beside the image are
// filled with the padding value; no padded copy of the input exists.
//
//===----------------------------------------------------------------------===//

#include "Phases.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::vector_kernels {
namespace {

/// The window op's input as an image and where this op's first pixel lies in it,
/// in the coordinates of the padded image.
struct WindowInput {
  Value image;
  SmallVector<OpFoldResult> offsets;
  int64_t padTop = 0, padLeft = 0, padBottom = 0;
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
        llvm::any_of(low, [](int64_t p) { return p < 0; }) ||
        llvm::any_of(high, [](int64_t p) { return p < 0; }))
      return op->emitOpError("needs a padding by a constant, at least zero, of rows and columns only");
    result.padTop = low[1];
    result.padLeft = low[2];
    result.padBottom = high[1];
    input = pad.getSource();
  }
  result.image = input;
  return result;
}

/// Builds the expansion of one window op.
class WindowExpander {
public:
  WindowExpander(linalg::LinalgOp op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()) {}
  LogicalResult expand();

private:
  Value addTo(Value acc, Value column, Value filter);
  Value convert(Value tile);
  Value filled(int64_t rows);
  Value load(OpFoldResult row, int64_t first, int64_t count, int64_t step);
  Value loadPadded(OpFoldResult row, int64_t pixels, int64_t origin, int64_t step);

  linalg::LinalgOp op;
  IRRewriter &rewriter;
  Location loc;
  WindowInput input;
  RankedTensorType imageType;
  Type accType;
  int64_t channels = 0, width = 0;
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
      .create<linalg::GenericOp>(loc, init.getType(), tile, init, ArrayRef<AffineMap>{map, map},
                                 parallel,
                                 [&](OpBuilder &b, Location l, ValueRange args) {
                                   Value wide = b.create<arith::ExtFOp>(l, accType, args[0]);
                                   b.create<linalg::YieldOp>(l, wide);
                                 })
      .getResult(0);
}

/// acc + column * filter (filter is a vector over the channels), or acc combined
/// with column for pooling.
Value WindowExpander::addTo(Value acc, Value column, Value filter) {
  SmallVector<AffineMap> maps{rewriter.getMultiDimIdentityMap(2)};
  SmallVector<Value> ins{column};
  if (filter) {
    maps.push_back(AffineMap::get(2, 0, rewriter.getAffineDimExpr(1)));
    ins.push_back(filter);
  }
  maps.push_back(rewriter.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> parallel(2, utils::IteratorType::parallel);
  bool isMax = isa<linalg::PoolingNhwcMaxOp>(op.getOperation());
  return rewriter
      .create<linalg::GenericOp>(
          loc, acc.getType(), ins, acc, maps, parallel,
          [&](OpBuilder &b, Location l, ValueRange args) {
            Value term = args[0];
            if (filter)
              term = b.create<arith::MulFOp>(l, args[0], args[1]);
            Value sum = isMax ? b.create<arith::MaximumFOp>(l, args.back(), term).getResult()
                              : b.create<arith::AddFOp>(l, args.back(), term).getResult();
            b.create<linalg::YieldOp>(l, sum);
          })
      .getResult(0);
}

/// [rows, channels] of the padding value (0 without padding).
Value WindowExpander::filled(int64_t rows) {
  Type type = imageType.getElementType();
  TypedAttr value = input.padValue ? cast<TypedAttr>(input.padValue)
                                   : cast<TypedAttr>(rewriter.getZeroAttr(type));
  Value scalar = rewriter.create<arith::ConstantOp>(loc, value);
  Value init = rewriter.create<tensor::EmptyOp>(loc, ArrayRef<int64_t>{rows, channels}, type);
  return rewriter.create<linalg::FillOp>(loc, scalar, init).getResult(0);
}

/// `count` pixels of image row `row`, from column `first` on, every `step`th.
Value WindowExpander::load(OpFoldResult row, int64_t first, int64_t count, int64_t step) {
  auto index = [&](int64_t value) -> OpFoldResult { return rewriter.getIndexAttr(value); };
  auto type = RankedTensorType::get({count, channels}, imageType.getElementType());
  SmallVector<OpFoldResult> offsets{input.offsets[0], row, index(first), input.offsets[3]};
  SmallVector<OpFoldResult> sizes{index(1), index(1), index(count), index(channels)};
  SmallVector<OpFoldResult> strides{index(1), index(1), index(step), index(1)};
  return rewriter.create<tensor::ExtractSliceOp>(loc, type, input.image, offsets, sizes, strides);
}

/// `pixels` pixels whose first has image column `origin` (which may lie outside).
Value WindowExpander::loadPadded(OpFoldResult row, int64_t pixels, int64_t origin, int64_t step) {
  int64_t imageWidth = imageType.getDimSize(2);
  int64_t low = origin < 0 ? llvm::divideCeil(-origin, step) : 0;
  int64_t high = imageWidth - 1 - origin < 0 ? 0 : (imageWidth - 1 - origin) / step + 1;
  low = std::min(low, pixels);
  high = std::min(high, pixels);
  if (low == 0 && high == pixels)
    return load(row, origin, pixels, step);
  Value tile = filled(pixels);
  if (high <= low)
    return tile;
  Value inside = load(row, origin + low * step, high - low, step);
  auto index = [&](int64_t value) -> OpFoldResult { return rewriter.getIndexAttr(value); };
  return rewriter.create<tensor::InsertSliceOp>(
      loc, inside, tile, ArrayRef<OpFoldResult>{index(low), index(0)},
      ArrayRef<OpFoldResult>{index(high - low), index(channels)},
      ArrayRef<OpFoldResult>{index(1), index(1)});
}

LogicalResult WindowExpander::expand() {
  auto output = cast<RankedTensorType>(op->getResult(0).getType());
  if (!output.hasStaticShape() || output.getDimSize(0) != 1 || output.getDimSize(1) != 1)
    return op->emitOpError("was not tiled to one output row");
  FailureOr<WindowInput> traced = traceInput(op, op.getDpsInputs()[0]);
  if (failed(traced))
    return failure();
  input = *traced;
  imageType = cast<RankedTensorType>(input.image.getType());
  accType = output.getElementType();
  width = output.getDimSize(2);
  channels = output.getDimSize(3);
  std::optional<int64_t> column = getConstantIntValue(input.offsets[2]);
  if (!column || !imageType.hasStaticShape())
    return op->emitOpError("needs whole output rows of a static image");
  auto window = cast<RankedTensorType>(op.getDpsInputs()[1].getType());
  auto strides = llvm::to_vector(op->getAttrOfType<DenseIntElementsAttr>("strides").getValues<int64_t>());
  auto dilations = llvm::to_vector(op->getAttrOfType<DenseIntElementsAttr>("dilations").getValues<int64_t>());
  int64_t kernelH = window.getDimSize(0), kernelW = window.getDimSize(1);
  int64_t imageH = imageType.getDimSize(1);
  bool isConv = window.getRank() == 3;

  rewriter.setInsertionPoint(op);
  SmallVector<ReassociationIndices> toMatrix{{0, 1, 2}, {3}};
  Value init = rewriter.create<tensor::CollapseShapeOp>(loc, op.getDpsInits()[0], toMatrix);

  // Kernel rows inside the image: 0 <= first + kh * dilation - padTop < imageH.
  OpFoldResult first = input.offsets[1];
  AffineExpr d0 = rewriter.getAffineDimExpr(0), d1 = rewriter.getAffineDimExpr(1);
  OpFoldResult lower = rewriter.getIndexAttr(0), upper = rewriter.getIndexAttr(kernelH);
  MLIRContext *context = rewriter.getContext();
  if (input.padTop != 0)
    lower = affine::makeComposedFoldedAffineMax(
        rewriter, loc,
        AffineMap::get(1, 0, {rewriter.getAffineConstantExpr(0), (input.padTop - d0).ceilDiv(dilations[0])}, context),
        {first});
  if (input.padTop != 0 || input.padBottom != 0)
    upper = affine::makeComposedFoldedAffineMin(
        rewriter, loc,
        AffineMap::get(1, 0, {rewriter.getAffineConstantExpr(kernelH), (imageH + input.padTop - d0).ceilDiv(dilations[0])}, context),
        {first});
  Value one = rewriter.create<arith::ConstantIndexOp>(loc, 1);
  auto loop = rewriter.create<scf::ForOp>(
      loc, getValueOrCreateConstantIndexOp(rewriter, loc, lower),
      getValueOrCreateConstantIndexOp(rewriter, loc, upper), one, init);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    OpFoldResult row = affine::makeComposedFoldedAffineApply(
        rewriter, loc, d0 + d1 * dilations[0] - input.padTop, {first, loop.getInductionVar()});
    auto index = [&](int64_t value) -> OpFoldResult { return rewriter.getIndexAttr(value); };
    Value filters;
    if (isConv) {
      auto type = RankedTensorType::get({kernelW, channels}, window.getElementType());
      Value rows = rewriter.create<tensor::ExtractSliceOp>(
          loc, type, op.getDpsInputs()[1],
          ArrayRef<OpFoldResult>{OpFoldResult(loop.getInductionVar()), index(0), index(0)},
          ArrayRef<OpFoldResult>{index(1), index(kernelW), index(channels)},
          ArrayRef<OpFoldResult>{index(1), index(1), index(1)});
      // One load for the filters of this kernel row; each column reads its part.
      auto space = pto::AddressSpaceAttr::get(context, pto::AddressSpace::vec);
      filters = convert(rewriter.create<bufferization::AllocTensorOp>(loc, type, ValueRange(), rows,
                                                                     Value(), space));
    }
    int64_t origin = *column - input.padLeft;
    Value whole;
    if (strides[1] == 1)
      whole = convert(loadPadded(row, width + (kernelW - 1) * dilations[1], origin, 1));
    Value acc = loop.getRegionIterArg(0);
    for (int64_t kw = 0; kw < kernelW; ++kw) {
      Value pixels, filter;
      if (whole) {
        auto type = RankedTensorType::get({width, channels}, accType);
        pixels = rewriter.create<tensor::ExtractSliceOp>(
            loc, type, whole, ArrayRef<OpFoldResult>{index(kw * dilations[1]), index(0)},
            ArrayRef<OpFoldResult>{index(width), index(channels)},
            ArrayRef<OpFoldResult>{index(1), index(1)});
      } else {
        pixels = convert(loadPadded(row, width, origin + kw * dilations[1], strides[1]));
      }
      if (isConv) {
        auto type = RankedTensorType::get({channels}, accType);
        filter = rewriter.create<tensor::ExtractSliceOp>(
            loc, type, filters, ArrayRef<OpFoldResult>{index(kw), index(0)},
            ArrayRef<OpFoldResult>{index(1), index(channels)},
            ArrayRef<OpFoldResult>{index(1), index(1)});
      }
      acc = addTo(acc, pixels, filter);
    }
    rewriter.create<scf::YieldOp>(loc, acc);
  }
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, output, loop.getResult(0), toMatrix);
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
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      rewriter.eraseOp(op);
  return success();
}

} // namespace pto_mlir::vector_kernels
