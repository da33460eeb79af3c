// Folds a constant scale (of the queries of an attention) into the columns of the product that computes them.
#include "Fuse.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

#include <cmath>

using namespace mlir;

namespace pto_mlir::top {
namespace {

// Columns [begin, end) of a product, traced through reshapes and permutes without other users.
struct Columns {
  MatMulOp product;
  int64_t begin = 0, end = 0;
  SmallVector<Operation *> chain; // from the scaled value to the product, exclusive
};

// Whether the slice restricts the last dimension only.
bool takesColumns(SliceOp slice) {
  ArrayRef<int64_t> shape = slice.getInput().getType().getShape();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool last = dim + 1 == shape.size();
    if (slice.getSteps()[dim] != 1 || (!last && (slice.getStarts()[dim] != 0 || slice.getEnds()[dim] != size)))
      return false;
  }
  return true;
}

std::optional<Columns> findColumns(Value value) {
  Columns columns;
  Operation *op = value.getDefiningOp();
  for (; op && op->hasOneUse() && isa<ReshapeOp, PermuteOp>(op); op = op->getOperand(0).getDefiningOp())
    columns.chain.push_back(op);
  auto slice = dyn_cast_or_null<SliceOp>(op);
  columns.product = dyn_cast_or_null<MatMulOp>(slice ? slice.getInput().getDefiningOp() : op);
  if (!columns.product || (slice && (!slice->hasOneUse() || !takesColumns(slice))) || (!slice && !op->hasOneUse()))
    return std::nullopt;
  columns.end = columns.product.getType().getShape().back();
  if (!slice)
    return columns;
  columns.chain.push_back(slice);
  columns.begin = slice.getStarts().back();
  columns.end = slice.getEnds().back();
  // The other users must not read these columns.
  for (Operation *user : columns.product->getUsers()) {
    auto other = dyn_cast<SliceOp>(user);
    if (user != slice && (!other || !takesColumns(other) ||
                          (other.getStarts().back() < columns.end && columns.begin < other.getEnds().back())))
      return std::nullopt;
  }
  return columns;
}

// Whether f16, which may become the storage type, holds weights as well when they are scaled: it has all its bits from
// 2^-14 on, and most weights are a few bits below the greatest.
bool keepsRange(double greatest, double factor) {
  double scaled = greatest * std::fabs(factor);
  double most = llvm::APFloat::getLargest(llvm::APFloat::IEEEhalf()).convertToDouble();
  return std::fabs(factor) < 1 ? scaled >= 0x1p-10 || greatest == 0 : scaled <= most;
}

// Multiplies the columns' weights and biases by `factor`; false where these are not constant or leave
// the range of f16.
bool scaleColumns(const Columns &columns, double factor, PatternRewriter &rewriter, Absorbed &absorbed) {
  MatMulOp product = columns.product;
  std::optional<Weight> weights = getConstant(product.getRhs());
  std::optional<Weight> bias = product.getBias() ? getConstant(product.getBias()) : std::nullopt;
  if (!weights || weights->type.getRank() != 2 || (product.getBias() && !bias) ||
      !isa<FloatType>(weights->type.getElementType()))
    return false;
  int64_t count = product.getType().getShape().back();
  int64_t stride = product.getTransposeB() ? weights->type.getNumElements() / count : 1;
  auto isOf = [&](size_t i, int64_t step) {
    int64_t column = i / step % count;
    return column >= columns.begin && column < columns.end;
  };
  double greatest = 0;
  for (auto [i, value] : llvm::enumerate(toDoubles(*weights)))
    greatest = isOf(i, stride) ? std::max(greatest, std::fabs(value)) : greatest;
  if (!keepsRange(greatest, factor))
    return false;
  auto scaled = [&](const Weight &weight, Value old, int64_t step) {
    std::vector<double> values = toDoubles(weight);
    for (size_t i = 0; i < values.size(); ++i)
      if (isOf(i, step))
        values[i] *= factor;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(product);
    return createConstant(rewriter, old.getLoc(), (getTensorName(old) + "_scaled").str(), weight.type,
                          fromDoubles(weight.type.getElementType(), values));
  };
  // The intermediate tensors hold scaled values, so their names are absorbed.
  absorbed.add(product.getLoc());
  for (Operation *part : columns.chain) {
    absorbed.add(part->getLoc());
    rewriter.modifyOpInPlace(part, [&] { part->setLoc(rewriter.getUnknownLoc()); });
  }
  rewriter.modifyOpInPlace(product, [&] {
    product->setLoc(rewriter.getUnknownLoc());
    product.getRhsMutable().assign(scaled(*weights, product.getRhs(), stride));
    if (bias)
      product.getBiasMutable().assign(scaled(*bias, product.getBias(), 1));
  });
  return true;
}

template <typename OpTy> struct FuseScale : public AbsorbingPattern<OpTy> {
  using AbsorbingPattern<OpTy>::AbsorbingPattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    constexpr bool divides = std::is_same_v<OpTy, DivOp>;
    for (auto [value, other] :
         {std::pair<Value, Value>(op.getLhs(), op.getRhs()), std::pair<Value, Value>(op.getRhs(), op.getLhs())}) {
      if (divides && value != op.getLhs())
        continue;
      std::optional<double> factor = value.getType() == op.getType() ? getSplat(other) : std::nullopt;
      if (factor && divides)
        factor = *factor == 0 ? std::nullopt : std::optional<double>(1 / *factor);
      std::optional<Columns> columns = factor ? findColumns(value) : std::nullopt;
      if (!columns || columns->chain.empty() || !scaleColumns(*columns, *factor, rewriter, this->absorbed))
        continue;
      Operation *last = columns->chain.front();
      rewriter.modifyOpInPlace(last, [&] { last->setLoc(op.getLoc()); });
      rewriter.replaceOp(op, value);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "scales no columns of a product by a constant");
  }
};

// The scale of an attention whose queries a product makes of them.
struct FuseAttentionScale : public AbsorbingPattern<AttentionOp> {
  using AbsorbingPattern<AttentionOp>::AbsorbingPattern;

  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    double scale = op.getScale().convertToDouble();
    std::optional<Columns> columns =
        scale != 1 && op.getQuery().hasOneUse() ? findColumns(op.getQuery()) : std::nullopt;
    if (!columns || !scaleColumns(*columns, scale, rewriter, this->absorbed))
      return rewriter.notifyMatchFailure(op, "queries are no product with constant weights, or are not scaled");
    rewriter.modifyOpInPlace(op, [&] { op.setScale(APFloat(1.0)); });
    return success();
  }
};

} // namespace

void populateFuseScale(RewritePatternSet &patterns, Absorbed &absorbed) {
  patterns.add<FuseScale<MulOp>, FuseScale<DivOp>, FuseAttentionScale>(patterns.getContext(), absorbed);
}

} // namespace pto_mlir::top
