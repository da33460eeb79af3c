//===- Conv.cpp - convolutions of NHWC feature maps -----------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// The parameters of a convolution over two spatial dimensions.
struct Conv2D {
  Value input;  // [N, H, W, Cin], not padded
  Value filter; // [KH, KW, Cin/G, Cout]
  SmallVector<int64_t> strides, dilations, low, high;
  int64_t groups, channels, features;
};

// Permutes a constant filter for a grouped convolution: [KH, KW, C/G, G * F] -> [G, F, KH, KW, C/G].
Value groupFilter(OpBuilder &builder, Location loc, const Conv2D &conv, const top::Weight &weight) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(conv.filter.getType()).getShape();
  int64_t taps = shape[0] * shape[1] * shape[2], count = shape[3];
  int64_t bytes = top::elementBytes(weight.type.getElementType());
  std::vector<char> moved(weight.bytes.size());
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t feature = 0; feature < count; ++feature)
      std::copy_n(weight.bytes.data() + (tap * count + feature) * bytes, bytes,
                  moved.data() + (feature * taps + tap) * bytes);
  auto type = RankedTensorType::get({conv.groups, count / conv.groups, shape[0], shape[1], shape[2]},
                                    weight.type.getElementType());
  return top::createConstant(builder, innerLoc(loc), "grouped_filter", type, std::move(moved));
}

// A grouped NHWC convolution, for which linalg has no named op: input [N, H, W, G, C], filter [G, F, KH, KW, C], output
// [N, OH, OW, G, F].
Value groupedGeneric(OpBuilder &b, Location loc, Value input, Value filter, Value init, const Conv2D &conv) {
  SmallVector<AffineExpr> d;
  for (unsigned i = 0; i < 8; ++i)
    d.push_back(b.getAffineDimExpr(i)); // n, oh, ow, g, f, kh, kw, c
  AffineExpr h = d[1] * conv.strides[0] + d[5] * conv.dilations[0],
             w = d[2] * conv.strides[1] + d[6] * conv.dilations[1];
  MLIRContext *context = b.getContext();
  SmallVector<AffineMap> maps{AffineMap::get(8, 0, {d[0], h, w, d[3], d[7]}, context),
                              AffineMap::get(8, 0, {d[3], d[4], d[5], d[6], d[7]}, context),
                              AffineMap::get(8, 0, {d[0], d[1], d[2], d[3], d[4]}, context)};
  SmallVector<utils::IteratorType> iterators(8, utils::IteratorType::parallel);
  std::fill(iterators.begin() + 5, iterators.end(), utils::IteratorType::reduction);
  Location inner = innerLoc(loc);
  Type accumulator = cast<RankedTensorType>(init.getType()).getElementType();
  return b
      .create<linalg::GenericOp>(
          loc, init.getType(), ValueRange{input, filter}, init, maps, iterators,
          [&](OpBuilder &body, Location, ValueRange args) {
            Value x = convertScalar(body, inner, args[0], accumulator);
            Value y = convertScalar(body, inner, args[1], accumulator);
            Value sum;
            if (isa<FloatType>(accumulator))
              sum = body.create<arith::AddFOp>(inner, args[2], body.create<arith::MulFOp>(inner, x, y));
            else
              sum = body.create<arith::AddIOp>(inner, args[2], body.create<arith::MulIOp>(inner, x, y));
            body.create<linalg::YieldOp>(inner, sum);
          })
      .getResult(0);
}

struct ConvLowering : OpRewritePattern<top::ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::ConvOp op, PatternRewriter &rewriter) const override {
    auto inputType = cast<RankedTensorType>(op.getInput().getType());
    FailureOr<ImageWindow> image = ImageWindow::get(op, op.getLayout(), inputType);
    if (failed(image))
      return failure();
    Location loc = op.getLoc(), inner = innerLoc(loc);
    auto resultType = cast<RankedTensorType>(op.getType());
    Type storage = resultType.getElementType();
    Type accumulator = isa<FloatType>(storage) ? Type(rewriter.getF32Type()) : Type(rewriter.getI32Type());

    Conv2D conv;
    conv.strides = image->numbers(op.getStrides(), 1);
    conv.dilations = image->numbers(op.getDilations(), 1);
    std::tie(conv.low, conv.high) = image->pads(op.getPads());
    SmallVector<int64_t> inputShape = image->shape(inputType.getShape());
    SmallVector<int64_t> filterShape =
        image->shape(cast<RankedTensorType>(op.getFilter().getType()).getShape(), /*height=*/0);
    SmallVector<int64_t> outputShape = image->shape(resultType.getShape());
    conv.input = reshape(rewriter, inner, op.getInput(), inputShape);
    conv.filter = reshape(rewriter, inner, op.getFilter(), filterShape);
    conv.groups = op.getGroup();
    conv.channels = inputShape[3];
    conv.features = outputShape[3];

    Location convLoc = accumulator == storage ? loc : inner;
    bool depthwise = top::isDepthwise(conv.groups, conv.channels, conv.features);
    Value value = depthwise         ? lowerDepthwise(op, conv, outputShape, accumulator, convLoc, rewriter)
                  : conv.groups > 1 ? lowerGrouped(op, conv, outputShape, accumulator, convLoc, rewriter)
                                    : lowerPlain(op, conv, outputShape, accumulator, convLoc, rewriter);
    if (!value)
      return failure();
    value = convertTensor(rewriter, loc, value, storage);
    rewriter.replaceOp(op, reshape(rewriter, inner, value, resultType.getShape()));
    return success();
  }

private:
  static DenseIntElementsAttr pair(OpBuilder &builder, ArrayRef<int64_t> values) {
    return builder.getI64TensorAttr(values);
  }

  // The init: zeros, or the bias broadcast over all but the last `biasShape.size()` dimensions.
  static Value initial(OpBuilder &builder, top::ConvOp op, ArrayRef<int64_t> shape, ArrayRef<int64_t> biasShape,
                       Type accumulator) {
    Location inner = innerLoc(op.getLoc());
    if (!op.getBias())
      return filled(builder, op.getLoc(), shape, accumulator, 0);
    Value bias = convertTensor(builder, inner, op.getBias(), accumulator);
    bias = reshape(builder, inner, bias, biasShape);
    SmallVector<int64_t> repeated = llvm::to_vector(llvm::seq<int64_t>(0, shape.size() - biasShape.size()));
    return builder.create<linalg::BroadcastOp>(inner, bias, empty(builder, op.getLoc(), shape, accumulator), repeated)
        ->getResult(0);
  }

  static Value lowerPlain(top::ConvOp op, const Conv2D &conv, ArrayRef<int64_t> shape, Type accumulator, Location loc,
                          OpBuilder &b) {
    Value input =
        pad(b, innerLoc(loc), conv.input, {0, conv.low[0], conv.low[1], 0}, {0, conv.high[0], conv.high[1], 0}, 0);
    Value init = initial(b, op, shape, conv.features, accumulator);
    return b
        .create<linalg::Conv2DNhwcHwcfOp>(loc, init.getType(), ValueRange{input, conv.filter}, init,
                                          pair(b, conv.strides), pair(b, conv.dilations))
        .getResult(0);
  }

  static Value lowerDepthwise(top::ConvOp op, const Conv2D &conv, ArrayRef<int64_t> shape, Type accumulator,
                              Location loc, OpBuilder &b) {
    Value input =
        pad(b, innerLoc(loc), conv.input, {0, conv.low[0], conv.low[1], 0}, {0, conv.high[0], conv.high[1], 0}, 0);
    ArrayRef<int64_t> filterShape = cast<RankedTensorType>(conv.filter.getType()).getShape();
    Value filter = reshape(b, innerLoc(loc), conv.filter, {filterShape[0], filterShape[1], conv.features});
    Value init = initial(b, op, shape, conv.features, accumulator);
    return b
        .create<linalg::DepthwiseConv2DNhwcHwcOp>(loc, init.getType(), ValueRange{input, filter}, init,
                                                  pair(b, conv.strides), pair(b, conv.dilations))
        .getResult(0);
  }

  static Value lowerGrouped(top::ConvOp op, const Conv2D &conv, ArrayRef<int64_t> shape, Type accumulator, Location loc,
                            OpBuilder &b) {
    std::optional<top::Weight> weight = top::getConstant(op.getFilter());
    if (!weight) {
      op.emitOpError("with ") << conv.groups << " groups needs a constant filter";
      return nullptr;
    }
    Location inner = innerLoc(loc);
    ArrayRef<int64_t> in = cast<RankedTensorType>(conv.input.getType()).getShape();
    int64_t perGroup = conv.features / conv.groups;
    Value input = reshape(b, inner, conv.input, {in[0], in[1], in[2], conv.groups, conv.channels / conv.groups});
    input = pad(b, inner, input, {0, conv.low[0], conv.low[1], 0, 0}, {0, conv.high[0], conv.high[1], 0, 0}, 0);
    Value init =
        initial(b, op, {shape[0], shape[1], shape[2], conv.groups, perGroup}, {conv.groups, perGroup}, accumulator);
    Value result = groupedGeneric(b, loc, input, groupFilter(b, loc, conv, *weight), init, conv);
    return reshape(b, inner, result, shape);
  }
};

} // namespace

void populateConv(RewritePatternSet &patterns) { patterns.add<ConvLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
