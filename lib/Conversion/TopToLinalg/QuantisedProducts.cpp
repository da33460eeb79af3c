//===- QuantisedProducts.cpp - products of stored integers ----------------===//

#include "QuantisedProducts.h"

#include "LinalgBuilders.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Kernels/Requantise.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

/// The weights that make each column of a product.
struct Columns {
  SmallVector<int64_t> sums, magnitudes; ///< of a column's weights, and of their absolute values
};

// So many products of -128 by -128 do not fit i32.
constexpr int64_t kSummedBeyond32Bits = (int64_t(1) << 31) / (128 * 128);

class ProductLowering {
public:
  ProductLowering(OpBuilder &builder, const QuantisedProduct &product)
      : builder(builder), product(product), op(product.op), left(top::quantParameters(product.left)),
        right(top::quantParameters(product.right)), result(top::quantParameters(product.result)) {}

  FailureOr<Value> run() {
    auto conv = dyn_cast<top::ConvOp>(op);
    if (conv && failed(checkConv(conv)))
      return failure();
    if (failed(readColumns()) || failed(setBias()))
      return failure();
    Value sums = conv ? sumsOf(conv) : sumsOf(cast<top::MatMulOp>(op));
    Value stored = requantised(sums);
    auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    if (shape == cast<RankedTensorType>(stored.getType()).getShape())
      return stored;
    return builder.create<top::ReshapeOp>(stored.getLoc(), stored, shape).getOutput();
  }

private:
  LogicalResult checkConv(top::ConvOp conv) {
    if (conv.getLayout() != "NHWC")
      return conv.emitOpError("has layout NCHW; run top-layout before convert-top-to-linalg");
    int64_t channels = cast<RankedTensorType>(conv.getInput().getType()).getShape().back();
    if (conv.getGroup() > 1 && conv.getGroup() == channels)
      return conv.emitOpError("is a depthwise convolution of quantised types, which the vector engine has no product "
                              "for; top.dequantize before it would do");
    return success();
  }

  bool transposedRight() const {
    auto matmul = dyn_cast<top::MatMulOp>(op);
    return matmul && matmul.getTransposeB();
  }

  /// Sums of i32 must neither wrap nor miss what the zero point adds to them.
  LogicalResult readColumns() {
    auto type = cast<RankedTensorType>(op->getOperand(1).getType());
    int64_t rank = type.getRank();
    count = type.getDimSize(transposedRight() ? rank - 2 : rank - 1);
    std::optional<top::Weight> weight = top::getConstant(op->getOperand(1));
    if (!weight) {
      int64_t depth = isa<top::ConvOp>(op) ? type.getNumElements() / count
                                           : type.getDimSize(transposedRight() ? rank - 1 : rank - 2);
      if (left.zeroPoints[0] != 0)
        return op->emitOpError("has a left operand with zero point ")
               << left.zeroPoints[0]
               << " and a computed right one, whose columns are not summed; zero point 0 would do";
      if (depth >= kSummedBeyond32Bits)
        return op->emitOpError("sums ") << depth << " products of 8 bits, which may leave 32; less than "
                                        << kSummedBeyond32Bits << " would do";
      return success();
    }
    std::vector<int64_t> numbers = top::toInts(*weight);
    int64_t inner = transposedRight() ? type.getDimSize(rank - 1) : 1;
    bool batched =
        isa<top::MatMulOp>(op) && type.getNumElements() != type.getDimSize(rank - 1) * type.getDimSize(rank - 2);
    if (batched && left.zeroPoints[0] != 0)
      return op->emitOpError("has a left operand with zero point ")
             << left.zeroPoints[0]
             << " and a right one of several matrices, which would need a bias each; zero point 0 "
             << "would do";
    columns.emplace();
    columns->sums.assign(count, 0);
    columns->magnitudes.assign(count, 0);
    for (auto [i, value] : llvm::enumerate(numbers)) {
      int64_t column = static_cast<int64_t>(i) / inner % count;
      columns->sums[column] += value;
      columns->magnitudes[column] += std::abs(value);
    }
    return success();
  }

  /// bias - zero point * sum of the column's weights: sum ((x - z) w) = sum (x w) - z sum (w).
  LogicalResult setBias() {
    bias = op->getNumOperands() > 2 ? op->getOperand(2) : Value();
    std::optional<top::Weight> given = bias ? top::getConstant(bias) : std::nullopt;
    int64_t zero = left.zeroPoints[0];
    if (bias && !given && zero != 0)
      return op->emitOpError("has a left operand with zero point ")
             << zero << " and a computed bias; zero point 0 would do";
    if (!columns)
      return success();
    std::vector<int64_t> numbers(count, 0);
    if (given)
      numbers = top::toInts(*given);
    for (int64_t i = 0; i < count; ++i) {
      numbers[i] -= zero * columns->sums[i];
      if (std::abs(numbers[i]) + 128 * columns->magnitudes[i] > INT32_MAX)
        return op->emitOpError("has sums in column ") << i << " that may leave 32 bits: bias " << numbers[i]
                                                      << ", weights of magnitude " << columns->magnitudes[i];
    }
    if (zero == 0)
      return success();
    auto type = RankedTensorType::get({count}, builder.getI32Type());
    bias = top::createConstant(builder, builder.getUnknownLoc(), "bias", type,
                               top::fromInts(type.getElementType(), numbers));
    return success();
  }

  Value sumsOf(top::ConvOp conv) {
    Location loc = innerLoc(conv.getLoc());
    SmallVector<int64_t> pads(conv.getPads());
    Value input = conv.getInput();
    if (left.zeroPoints[0] != 0 && llvm::any_of(pads, [](int64_t pad) { return pad != 0; })) {
      // What pads the input stands for 0, too.
      size_t spatial = pads.size() / 2;
      SmallVector<int64_t> all(2 * (spatial + 2), 0);
      llvm::copy(ArrayRef(pads).take_front(spatial), all.begin() + 1);
      llvm::copy(ArrayRef(pads).drop_front(spatial), all.begin() + spatial + 3);
      input = builder.create<top::PadOp>(loc, input, builder.getDenseI64ArrayAttr(all),
                                         builder.getF64FloatAttr(static_cast<double>(left.zeroPoints[0])));
      pads.assign(pads.size(), 0);
    }
    return builder
        .create<top::ConvOp>(loc, input, conv.getFilter(), bias, conv.getStridesAttr(),
                             builder.getDenseI64ArrayAttr(pads), conv.getDilationsAttr(), conv.getGroupAttr(),
                             conv.getLayoutAttr(), TypeAttr::get(builder.getI32Type()))
        .getOutput();
  }

  /// Rows of all batches as one matrix where the right operand is one, so that the sums lie as the cube makes them.
  Value sumsOf(top::MatMulOp matmul) {
    Location loc = innerLoc(matmul.getLoc());
    Value lhs = matmul.getLhs(), rhs = matmul.getRhs();
    auto type = cast<RankedTensorType>(lhs.getType());
    if (cast<RankedTensorType>(rhs.getType()).getRank() == 2 && type.getRank() > 2 && !matmul.getTransposeA())
      lhs = builder.create<top::ReshapeOp>(loc, lhs, ArrayRef<int64_t>{-1, type.getShape().back()});
    return builder
        .create<top::MatMulOp>(loc, lhs, rhs, bias, matmul.getTransposeAAttr(), matmul.getTransposeBAttr(),
                               TypeAttr::get(builder.getI32Type()))
        .getOutput();
  }

  Value requantised(Value sums) {
    // In f32 step by step, as ONNX's operators have it.
    SmallVector<double> scales;
    for (double scale : right.scales)
      scales.push_back(static_cast<float>(left.scales[0]) * static_cast<float>(scale) /
                       static_cast<float>(result.scales[0]));
    Type f32 = builder.getF32Type();
    auto scaleType = RankedTensorType::get({static_cast<int64_t>(scales.size())}, f32);
    Value scale = top::createConstant(builder, builder.getUnknownLoc(), "requantisation", scaleType,
                                      top::fromDoubles(f32, scales));
    Requantisation steps;
    steps.zero = result.zeroPoints[0];
    steps.least = product.result.getStorageTypeMin();
    steps.greatest = product.result.getStorageTypeMax();
    if (product.relu)
      steps.least = std::max(steps.least, steps.zero);
    steps.to = top::storageType(product.result);
    Location loc = product.relu ? product.relu->getLoc() : op->getLoc();
    auto type = cast<RankedTensorType>(cast<RankedTensorType>(sums.getType()).clone(steps.to));
    return elementwise(builder, loc, type, {sums, scale}, nullptr,
                       [&](OpBuilder &b, Location inner, ValueRange args) -> Value {
                         steps.sum = args[0];
                         steps.scale = args[1];
                         return steps.emit(b, inner);
                       });
  }

  OpBuilder &builder;
  const QuantisedProduct &product;
  Operation *op;
  top::QuantParameters left, right, result;
  int64_t count = 0; ///< columns
  std::optional<Columns> columns;
  Value bias;
};

} // namespace

FailureOr<Value> lowerProduct(OpBuilder &builder, const QuantisedProduct &product) {
  return ProductLowering(builder, product).run();
}

} // namespace pto_mlir::top_to_linalg
