//===- MatMul.cpp - matrix products ---------------------------------------===//

#include "../LinalgBuilders.h"
#include "../Patterns.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

// Transposes the last two dimensions: in the weight store for a constant, else by a transposition.
Value transposeLast(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  std::swap(shape[rank - 1], shape[rank - 2]);
  if (std::optional<top::Weight> weight = top::getConstant(value)) {
    int64_t rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
    int64_t bytes = top::elementBytes(type.getElementType());
    std::vector<char> moved(weight->bytes.size());
    int64_t matrix = rows * columns;
    for (int64_t base = 0; base < type.getNumElements(); base += matrix)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          std::copy_n(weight->bytes.data() + (base + r * columns + c) * bytes, bytes,
                      moved.data() + (base + c * rows + r) * bytes);
    return top::createConstant(builder, innerLoc(loc), "transposed",
                               RankedTensorType::get(shape, type.getElementType()), std::move(moved));
  }
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  Value init = empty(builder, loc, shape, type.getElementType());
  return builder.create<linalg::TransposeOp>(innerLoc(loc), value, init, permutation)->getResult(0);
}

// Broadcasts `value` [.., r, c] to the given batch dimensions and flattens them: [B, r, c].
Value toBatch(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> batch) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> full = llvm::to_vector(batch);
  llvm::append_range(full, type.getShape().take_back(2));
  if (type.getShape() != ArrayRef(full))
    value = elementwise(builder, innerLoc(loc), RankedTensorType::get(full, type.getElementType()), value,
                        type.getElementType(), [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  int64_t count = ShapedType::getNumElements(batch);
  return reshape(builder, innerLoc(loc), value, {count, full[full.size() - 2], full.back()});
}

struct MatMulLowering : OpRewritePattern<top::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(top::MatMulOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc(), inner = innerLoc(loc);
    Value lhs = op.getLhs(), rhs = op.getRhs();
    if (op.getTransposeA())
      lhs = transposeLast(rewriter, loc, lhs);
    bool transposeB = op.getTransposeB();
    if (transposeB && top::getConstant(rhs)) {
      rhs = transposeLast(rewriter, loc, rhs);
      transposeB = false;
    }
    auto lhsType = cast<RankedTensorType>(lhs.getType()), rhsType = cast<RankedTensorType>(rhs.getType());
    auto resultType = cast<RankedTensorType>(op.getType());
    Type storage = resultType.getElementType();
    Type accumulator = isa<FloatType>(storage) ? Type(rewriter.getF32Type()) : Type(rewriter.getI32Type());
    int64_t k = lhsType.getShape().back();
    int64_t n = rhsType.getDimSize(rhsType.getRank() - (transposeB ? 2 : 1));
    int64_t m = lhsType.getDimSize(lhsType.getRank() - 2);

    // With a single matrix on the right, the batch of the left operand is collapsed into rows.
    bool flat = rhsType.getRank() == 2 || ShapedType::getNumElements(rhsType.getShape().drop_back(2)) == 1;
    SmallVector<int64_t> shape;
    if (flat) {
      int64_t rows = lhsType.getNumElements() / k;
      lhs = reshape(rewriter, inner, lhs, {rows, k});
      rhs = reshape(rewriter, inner, rhs, rhsType.getShape().take_back(2));
      shape = {rows, n};
    } else {
      ArrayRef<int64_t> batch = resultType.getShape().drop_back(2);
      lhs = toBatch(rewriter, loc, lhs, batch);
      rhs = toBatch(rewriter, loc, rhs, batch);
      shape = {ShapedType::getNumElements(batch), m, n};
    }

    Value init;
    if (op.getBias()) {
      Value bias = convertTensor(rewriter, inner, op.getBias(), accumulator);
      bias = reshape(rewriter, inner, bias, {n});
      SmallVector<int64_t> repeated = llvm::to_vector(llvm::seq<int64_t>(0, shape.size() - 1));
      init = rewriter.create<linalg::BroadcastOp>(inner, bias, empty(rewriter, loc, shape, accumulator), repeated)
                 ->getResult(0);
    } else {
      init = filled(rewriter, loc, shape, accumulator, 0);
    }
    Location productLoc = accumulator == storage ? loc : inner;
    SmallVector<Value> operands{lhs, rhs};
    Operation *product;
    if (flat)
      product =
          transposeB
              ? rewriter.create<linalg::MatmulTransposeBOp>(productLoc, init.getType(), operands, init).getOperation()
              : rewriter.create<linalg::MatmulOp>(productLoc, init.getType(), operands, init).getOperation();
    else
      product = transposeB
                    ? rewriter.create<linalg::BatchMatmulTransposeBOp>(productLoc, init.getType(), operands, init)
                          .getOperation()
                    : rewriter.create<linalg::BatchMatmulOp>(productLoc, init.getType(), operands, init).getOperation();
    Value value = convertTensor(rewriter, loc, product->getResult(0), storage);
    rewriter.replaceOp(op, reshape(rewriter, inner, value, resultType.getShape()));
    return success();
  }
};

} // namespace

void populateMatMul(RewritePatternSet &patterns) { patterns.add<MatMulLowering>(patterns.getContext()); }

} // namespace pto_mlir::top_to_linalg
