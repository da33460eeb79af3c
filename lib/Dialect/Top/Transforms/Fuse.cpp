// top-fuse: folds constant scales and biases into the producing op.
#include "Fuse.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include <cmath>

#define DEBUG_TYPE "top-fuse"
#include "LogReplaced.h"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPFUSE
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

// A convolution, transposed convolution or matrix product with constant weights, in a common form: weight element i
// belongs to output channel channelOf(i).
struct Product {
  Operation *op;
  Weight weights; // the filter, or the right-hand matrix
  std::optional<Weight> bias;
  int64_t channels, channelDim;     // of the output
  int64_t channelStride;            // in the weights
  int64_t groups = 1, perGroup = 1; // of a transposed convolution: its filter holds the channels of one group only

  int64_t channelOf(int64_t i) const {
    if (groups == 1)
      return i / channelStride % channels;
    int64_t group = i / (weights.type.getNumElements() / groups);
    return group * perGroup + i / channelStride % perGroup;
  }

  // nullopt if `value` is not such a product, has other users, or its bias is not constant.
  static std::optional<Product> match(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasOneUse() || !isa<ConvOp, ConvTransposeOp, MatMulOp>(op))
      return std::nullopt;
    Product product{op, {}, std::nullopt, 0, 0, 1};
    auto conv = dyn_cast<ConvOp>(op);
    auto transposed = dyn_cast<ConvTransposeOp>(op);
    auto matmul = dyn_cast<MatMulOp>(op);
    auto type = cast<RankedTensorType>(value.getType());
    std::optional<Weight> weights = getConstant(op->getOperand(1));
    if (!weights || !isa<FloatType>(type.getElementType()) || (matmul && weights->type.getRank() != 2))
      return std::nullopt;
    product.weights = *weights;
    product.channelDim =
        matmul ? type.getRank() - 1 : top::channelDim(conv ? conv.getLayout() : transposed.getLayout(), type.getRank());
    product.channels = type.getDimSize(product.channelDim);
    bool channelFirst = conv ? conv.getLayout() != "NHWC" : matmul && matmul.getTransposeB();
    if (channelFirst)
      product.channelStride = weights->type.getNumElements() / product.channels;
    if (transposed && transposed.getLayout() != "NHWC") {
      ArrayRef<int64_t> shape = weights->type.getShape();
      product.groups = transposed.getGroup();
      product.perGroup = shape[1];
      product.channelStride = ShapedType::getNumElements(shape.drop_front(2));
    } else if (transposed && transposed.getGroup() != 1) {
      return std::nullopt;
    }
    if (Value bias = conv ? conv.getBias() : transposed ? transposed.getBias() : matmul.getBias()) {
      product.bias = getConstant(bias);
      if (!product.bias)
        return std::nullopt;
    }
    return product;
  }

  std::vector<double> biasValues() const { return bias ? toDoubles(*bias) : std::vector<double>(channels, 0.0); }

  // The type of the accumulator to which the bias is added: f32, or f64.
  Type biasType() const {
    Type element = weights.type.getElementType();
    return element.isF64() ? element : Float32Type::get(element.getContext());
  }

  // Recreates the op with new weights and bias at the position and under the name of `last`.
  void replace(PatternRewriter &rewriter, Operation *last, ArrayRef<double> scale, ArrayRef<double> biasValues) const {
    OperationState state(last->getLoc(), op->getName());
    SmallVector<Value> operands{op->getOperand(0), op->getOperand(1)};
    std::string name = getTensorName(op->getOperand(1)).str();
    if (!scale.empty()) {
      std::vector<double> values = toDoubles(weights);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] *= scale[channelOf(i)];
      Type element = weights.type.getElementType();
      operands[1] = createConstant(rewriter, op->getOperand(1).getLoc(), name + "_fused", weights.type,
                                   fromDoubles(element, values));
    }
    auto type = RankedTensorType::get({channels}, biasType());
    operands.push_back(
        createConstant(rewriter, rewriter.getUnknownLoc(), name + "_bias", type, fromDoubles(biasType(), biasValues)));
    state.addOperands(operands);
    state.addAttributes(op->getAttrs());
    state.addTypes(last->getResultTypes());
    rewriter.replaceOp(last, rewriter.create(state));
  }
};

struct FuseBatchNorm : public AbsorbingPattern<BatchNormOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    std::vector<double> params[4];
    for (auto [i, value] : llvm::enumerate(op->getOperands().drop_front())) {
      std::optional<Weight> weight = getConstant(value);
      if (!weight)
        return rewriter.notifyMatchFailure(op, "a parameter is not constant");
      params[i] = toDoubles(*weight);
    }
    auto &[scale, bias, mean, variance] = params;
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t dim = channelDim(op.getLayout(), type.getRank());
    // y = x * scale + bias
    for (size_t c = 0; c < scale.size(); ++c) {
      scale[c] /= std::sqrt(variance[c] + op.getEpsilon().convertToDouble());
      bias[c] -= mean[c] * scale[c];
    }
    std::optional<Product> product = Product::match(op.getInput());
    if (product && product->channelDim == dim) {
      std::vector<double> fused = product->biasValues();
      for (size_t c = 0; c < fused.size(); ++c)
        fused[c] = fused[c] * scale[c] + bias[c];
      absorbed.add(product->op->getLoc());
      product->replace(rewriter, op, scale, fused);
      return success();
    }
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[dim] = type.getDimSize(dim);
    auto perChannel = RankedTensorType::get(shape, type.getElementType());
    std::string name = getTensorName(op->getLoc()).str();
    auto constant = [&](StringRef suffix, ArrayRef<double> values) {
      return createConstant(rewriter, rewriter.getUnknownLoc(), (name + suffix).str(), perChannel,
                            fromDoubles(type.getElementType(), values));
    };
    Value scaled = rewriter.create<MulOp>(rewriter.getUnknownLoc(), op.getInput(), constant("_scale", scale));
    rewriter.replaceOpWithNewOp<AddOp>(op, scaled, constant("_bias", bias));
    return success();
  }
};

// A constant as one value per channel (dimension `dim`), broadcast over the other dimensions of `type`; nullopt for
// other shapes.
std::optional<std::vector<double>> perChannel(Value value, RankedTensorType type, int64_t dim) {
  std::optional<Weight> weight = getConstant(value);
  if (!weight || weight->type.getRank() > type.getRank())
    return std::nullopt;
  int64_t offset = type.getRank() - weight->type.getRank();
  for (auto [i, size] : llvm::enumerate(weight->type.getShape()))
    if (size != 1 && static_cast<int64_t>(i) + offset != dim)
      return std::nullopt;
  std::vector<double> values = toDoubles(*weight);
  if (values.size() == 1)
    values.resize(type.getDimSize(dim), values.front());
  return values;
}

struct FuseBias : public AbsorbingPattern<AddOp> {
  using AbsorbingPattern::AbsorbingPattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    for (auto [value, other] :
         {std::pair<Value, Value>(op.getLhs(), op.getRhs()), std::pair<Value, Value>(op.getRhs(), op.getLhs())}) {
      std::optional<Product> product = Product::match(value);
      if (!product || value.getType() != op.getType())
        continue;
      std::optional<std::vector<double>> added = perChannel(other, op.getType(), product->channelDim);
      if (!added)
        continue;
      std::vector<double> bias = product->biasValues();
      for (size_t c = 0; c < bias.size(); ++c)
        bias[c] += (*added)[c];
      absorbed.add(product->op->getLoc());
      product->replace(rewriter, op, {}, bias);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "adds no constant per channel to a convolution or matrix product");
  }
};

struct Fuse : public impl::TopFuseBase<Fuse> {
  void runOnOperation() override {
    Absorbed absorbed;
    LogReplaced log(DEBUG_TYPE);
    MLIRContext *context = &getContext();
    // Fuse biases first: a batch_norm after an unfused bias would not match the convolution and would be decomposed
    // into mul and add.
    RewritePatternSet biases(context), all(context);
    biases.add<FuseBias>(context, absorbed);
    all.add<FuseBatchNorm, FuseBias>(context, absorbed);
    populateFuseLayerNorm(all, absorbed);
    populateFusePermute(all, absorbed);
    populateFuseScale(all, absorbed);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(biases), log.config())) ||
        failed(applyPatternsAndFoldGreedily(getOperation(), std::move(all), log.config())))
      return signalPassFailure();
    absorbed.commit(getOperation());
  }
};

} // namespace
} // namespace pto_mlir::top
