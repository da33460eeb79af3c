// Evaluation of products of float constants (low-rank updates of weights, spectral norms). Terms are summed in double
// and rounded once.
#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

using namespace mlir;

namespace pto_mlir::top {

// More multiplications than this take seconds, which a run on the engines does not.
constexpr int64_t kMostTerms = int64_t(1) << 31;

// For each matrix of `batch` the place of that matrix in `operand`, in elements.
static std::vector<int64_t> matrixOffsets(ArrayRef<int64_t> batch, const Weight &operand) {
  ArrayRef<int64_t> shape = operand.type.getShape();
  Weight matrices{RankedTensorType::get(shape.drop_back(2), operand.type.getElementType()), {}, nullptr};
  std::vector<int64_t> offsets = broadcastOffsets(batch, matrices);
  for (int64_t &offset : offsets)
    offset *= shape.take_back(2)[0] * shape.take_back(2)[1];
  return offsets;
}

// [rows, columns] of a matrix that is stored transposed, or as it is.
static std::vector<double> transposedIf(bool transpose, std::vector<double> values, int64_t rows, int64_t columns) {
  if (!transpose)
    return values;
  std::vector<double> result(values.size());
  int64_t size = rows * columns;
  for (size_t matrix = 0; matrix < values.size(); matrix += size)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result[matrix + i * columns + j] = values[matrix + j * rows + i];
  return result;
}

std::optional<std::vector<char>> evaluateProduct(Operation *op, ArrayRef<Weight> operands) {
  auto product = dyn_cast<MatMulOp>(op);
  if (!product || !llvm::all_of(operands, [](const Weight &operand) {
        return isa<FloatType>(operand.type.getElementType()) && operand.type.getNumElements() != 0;
      }))
    return std::nullopt;
  auto type = product.getType();
  ArrayRef<int64_t> shape = type.getShape(), left = operands[0].type.getShape();
  int64_t m = shape.take_back(2)[0], n = shape.take_back(2)[1];
  int64_t k = left.take_back(2)[product.getTransposeA() ? 0 : 1];
  if (!isa<FloatType>(type.getElementType()) || type.getNumElements() > kMostTerms / k)
    return std::nullopt;
  std::vector<double> lhs = transposedIf(product.getTransposeA(), toDoubles(operands[0]), m, k);
  std::vector<double> rhs = transposedIf(product.getTransposeB(), toDoubles(operands[1]), k, n);
  std::vector<double> bias = operands.size() > 2 ? toDoubles(operands[2]) : std::vector<double>(n, 0.0);
  std::vector<int64_t> lhsOffsets = matrixOffsets(shape.drop_back(2), operands[0]);
  std::vector<int64_t> rhsOffsets = matrixOffsets(shape.drop_back(2), operands[1]);
  std::vector<double> result;
  result.reserve(type.getNumElements());
  for (auto [a, b] : llvm::zip_equal(lhsOffsets, rhsOffsets))
    for (int64_t i = 0; i < m; ++i) {
      std::vector<double> row(bias);
      for (int64_t term = 0; term < k; ++term)
        for (int64_t j = 0; j < n; ++j)
          row[j] += lhs[a + i * k + term] * rhs[b + term * n + j];
      llvm::append_range(result, row);
    }
  return fromDoubles(type.getElementType(), result);
}

} // namespace pto_mlir::top
