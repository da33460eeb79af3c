// Merges the products that make an attention's queries, keys and values of one tensor: one launch, which reads that
// tensor once. The attention's kernel reads its operands where they lie in the product's rows.
#include "MergeProjections.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

using namespace mlir;

namespace pto_mlir::top {

Value concatenateConstants(OpBuilder &b, ArrayRef<Value> values, int64_t axis) {
  SmallVector<Weight> parts;
  for (Value value : values)
    parts.push_back(*getConstant(value));
  SmallVector<int64_t> shape(parts.front().type.getShape());
  shape[axis] = 0;
  int64_t rows = ShapedType::getNumElements(ArrayRef(shape).take_front(axis));
  std::string name;
  for (auto [value, part] : llvm::zip_equal(values, parts)) {
    shape[axis] += part.type.getDimSize(axis);
    auto weight = value.getDefiningOp<WeightOp>();
    name += (name.empty() ? "" : "+") + (weight ? weight.getName().str() : "constant");
  }
  size_t total = 0;
  for (const Weight &part : parts)
    total += part.bytes.size();
  std::vector<char> bytes;
  bytes.reserve(total);
  for (int64_t row = 0; row < rows; ++row)
    for (const Weight &part : parts) {
      ArrayRef<char> slice = part.bytes.slice(row * (part.bytes.size() / rows), part.bytes.size() / rows);
      bytes.insert(bytes.end(), slice.begin(), slice.end());
    }
  return createConstant(b, values.front().getLoc(), name,
                        RankedTensorType::get(shape, parts.front().type.getElementType()), std::move(bytes));
}

bool haveLikeElements(Value a, Value b) {
  return bool(a) == bool(b) && (!a || getElementTypeOrSelf(a.getType()) == getElementTypeOrSelf(b.getType()));
}

Value sliceColumns(OpBuilder &b, Location loc, Value whole, int64_t begin, RankedTensorType type) {
  SmallVector<int64_t> starts(type.getRank(), 0), ends(type.getShape()), steps(type.getRank(), 1);
  starts.back() = begin;
  ends.back() += begin;
  return b.create<SliceOp>(loc, type, whole, starts, ends, steps);
}

namespace {

/// The product that an operand of an attention is, traced through reshapes and permutes without other users; null where
/// its weights are not constant.
MatMulOp projectionOf(Value operand) {
  Operation *op = operand.getDefiningOp();
  while (op && op->hasOneUse() && isa<ReshapeOp, PermuteOp>(op))
    op = op->getOperand(0).getDefiningOp();
  auto product = dyn_cast_or_null<MatMulOp>(op);
  if (!product || !product->hasOneUse() || product.getTransposeA() || product.getTo())
    return nullptr;
  auto weights = dyn_cast<RankedTensorType>(product.getRhs().getType());
  bool constant = getConstant(product.getRhs()) && (!product.getBias() || getConstant(product.getBias()));
  return constant && weights.getRank() == 2 && isa<FloatType>(weights.getElementType()) ? product : nullptr;
}

/// Whether both read one tensor, and weights and biases are alike but for the number of columns.
bool canMerge(MatMulOp first, MatMulOp second) {
  return first != second && first->getBlock() == second->getBlock() && first.getLhs() == second.getLhs() &&
         first.getTransposeB() == second.getTransposeB() && haveLikeElements(first.getRhs(), second.getRhs()) &&
         haveLikeElements(first.getBias(), second.getBias()) && haveLikeElements(first.getOutput(), second.getOutput());
}

void merge(MutableArrayRef<MatMulOp> products, RewriterBase &rewriter) {
  llvm::sort(products, [](MatMulOp a, MatMulOp b) { return a->isBeforeInBlock(b); });
  MatMulOp first = products.front();
  rewriter.setInsertionPoint(first);
  SmallVector<Value> weights, biases;
  for (MatMulOp product : products) {
    weights.push_back(product.getRhs());
    if (product.getBias())
      biases.push_back(product.getBias());
  }
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = 0;
  for (MatMulOp product : products)
    shape.back() += product.getType().getShape().back();
  auto whole = rewriter.create<MatMulOp>(
      rewriter.getUnknownLoc(), RankedTensorType::get(shape, type.getElementType(), type.getEncoding()), first.getLhs(),
      concatenateConstants(rewriter, weights, first.getTransposeB() ? 0 : 1),
      biases.empty() ? Value() : concatenateConstants(rewriter, biases, 0), /*transpose_a=*/false,
      first.getTransposeB(),
      /*to=*/TypeAttr());
  SmallVector<Value> parts;
  int64_t begin = 0;
  for (MatMulOp product : products) {
    auto part = cast<RankedTensorType>(product.getType());
    parts.push_back(sliceColumns(rewriter, product.getLoc(), whole.getOutput(), begin, part));
    begin += part.getShape().back();
  }
  for (auto [product, part] : llvm::zip_equal(products, parts))
    rewriter.replaceOp(product, part);
}

} // namespace

bool mergeProjections(AttentionOp op, RewriterBase &rewriter) {
  SmallVector<MatMulOp> products;
  for (Value operand : {op.getValue(), op.getKey(), op.getQuery()}) {
    MatMulOp product = projectionOf(operand);
    if (product && (products.empty() || canMerge(products.front(), product)))
      products.push_back(product);
  }
  if (products.size() < 2)
    return false;
  merge(products, rewriter);
  return true;
}

} // namespace pto_mlir::top
