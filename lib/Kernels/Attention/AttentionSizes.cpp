//===- AttentionSizes.cpp - extents that are known at run time ------------===//
//
// Where the rows of a head lie is computed twice, with the greatest sizes and with
// others; a step between rows that differs must be a product of the sizes.
//
//===----------------------------------------------------------------------===//

#include "../Sizes/SizeAnalysis.h"
#include "Attention.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir::attention {

namespace {

/// Primes: no product of them and of a constant is taken for another one.
constexpr int64_t kOthers[] = {10007, 10009, 10037, 10039};

class SizeMatcher {
public:
  SizeMatcher(ArrayRef<int64_t> greatest, const kernels::SizeAnalysis &analysis, top::AttentionOp op, Attention &a)
      : greatest(greatest), analysis(analysis), op(op), a(a) {}

  LogicalResult run();

private:
  SmallVector<int64_t> shapeOf(Value value) const {
    return llvm::map_to_vector(analysis.of(value), [](AffineExpr size) { return kernels::valueOf(size, kOthers); });
  }
  bool fit(int64_t most, int64_t other, AffineExpr &size);
  LogicalResult fit(Matrix &matrix, const std::optional<Matrix> &other, const Twine &what);
  LogicalResult bias();

  ArrayRef<int64_t> greatest;
  const kernels::SizeAnalysis &analysis;
  top::AttentionOp op;
  Attention &a;
};

/// `size` stays null where both numbers are one; else it is what gives `most` and `other`. False: there is no such
/// product.
bool SizeMatcher::fit(int64_t most, int64_t other, AffineExpr &size) {
  if (most == other)
    return true;
  for (unsigned set = 1; set < 1u << greatest.size(); ++set) {
    AffineExpr product = getAffineConstantExpr(1, op.getContext());
    int64_t mostOfSet = 1, otherOfSet = 1;
    for (size_t i = 0; i < greatest.size(); ++i)
      if (set >> i & 1) {
        product = product * getAffineSymbolExpr(i, op.getContext());
        mostOfSet *= greatest[i], otherOfSet *= kOthers[i];
      }
    if (most % mostOfSet == 0 && other == most / mostOfSet * otherOfSet) {
      size = product * (most / mostOfSet);
      return true;
    }
  }
  return false;
}

LogicalResult SizeMatcher::fit(Matrix &matrix, const std::optional<Matrix> &other, const Twine &what) {
  bool same = other && matrix.cols == other->cols && matrix.inner == other->inner &&
              matrix.innerCols == other->innerCols && matrix.firstRow == other->firstRow &&
              matrix.firstCol == other->firstCol;
  if (same && fit(matrix.outerRows, other->outerRows, matrix.outerRowsSize) &&
      fit(matrix.innerRows, other->innerRows, matrix.innerRowsSize) &&
      fit(matrix.outerCols, other->outerCols, matrix.outerColsSize))
    return success();
  return op->emitError("is an attention with ") << what << " whose rows lie at distances that are known at run time";
}

LogicalResult SizeMatcher::bias() {
  SmallVector<int64_t> shape = fourDimensions(shapeOf(op.getBias()));
  if (a.keys && a.biasByRow)
    return op->emitError("is an attention with a bias of rows whose length is known at run time");
  Matrix other = biasHeads(op, shape);
  if (!a.keys)
    return fit(*a.bias, other, "a bias");
  // One row for each head that has its own: they follow each other in one row.
  auto flat = [](Matrix &bias) {
    bias.outerCols = bias.outerRows * bias.cols, bias.innerCols = bias.innerRows * bias.cols;
    bias.outerRows = bias.innerRows = 0;
    bias.cols *= bias.rows;
    bias.rows = 1;
  };
  flat(*a.bias);
  flat(other);
  other.cols = a.bias->cols;
  return fit(*a.bias, other, "a bias of each head");
}

LogicalResult SizeMatcher::run() {
  std::pair<Matrix *, const char *> operands[] = {{&a.query, "a query"}, {&a.key, "a key"}, {&a.value, "a value"}};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    auto other = operandHeads(op, i, rootOf(op, i), [&](Value value) { return shapeOf(value); });
    if (failed(fit(*operand.first, other, operand.second)))
      return failure();
  }
  if (failed(fit(a.out, resultHeads(op, shapeOf(op.getOutput())), "a result")))
    return failure();
  kernels::Sizes query = analysis.of(op.getQuery()), key = analysis.of(op.getKey());
  auto known = [](AffineExpr size) { return isa<AffineConstantExpr>(size) ? AffineExpr() : size; };
  a.batches = known(query[0]);
  a.queries = known(query[op.getQLayout() == "BNSD" ? 2 : 1]);
  a.problem.alike &= !a.queries;
  a.keys = known(key[op.getKLayout() == "BNSD" ? 2 : 1]);
  if (!op.getOffset() && a.queries != a.keys)
    a.offset = std::nullopt;
  return op.getBias() ? bias() : success();
}

} // namespace

LogicalResult matchSizes(func::FuncOp kernel, top::AttentionOp op, Attention &attention) {
  auto greatest = kernel->getAttrOfType<DenseI64ArrayAttr>(pto::kGreatestSizesAttr);
  if (!greatest)
    return success();
  if (size_t(greatest.size()) > std::size(kOthers))
    return op->emitError("is an attention of more than ") << std::size(kOthers) << " sizes that are known at run time";
  kernels::SizeAnalysis analysis(kernel);
  for (Operation &step : kernel.getBody().front())
    if (failed(analysis.visit(&step)))
      return failure();
  return SizeMatcher(greatest.asArrayRef(), analysis, op, attention).run();
}

LogicalResult checkSizes(top::AttentionOp op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  std::string reason;
  auto attention = matchAttention(op, pto::targetOf(op).name, /*out=*/0, &reason);
  if (!attention)
    return op.emitError("has no kernel: ") << reason;
  return matchSizes(kernel, op, *attention);
}

} // namespace pto_mlir::attention
