// Windows of a pointer as windows of a matrix in row-major order.
#include "RaiseMatrix.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::pypto_frontend {

std::pair<Value, LinearForm> baseOf(Value pointer) {
  LinearForm ahead;
  while (auto step = pointer.getDefiningOp<pto::AddPtrOp>()) {
    ahead.add(step.getOffset(), 1);
    pointer = step.getPtr();
  }
  return {pointer, ahead};
}

std::pair<LinearForm, LinearForm> split(const LinearForm &form, int64_t pitch) {
  int64_t rows = llvm::divideFloorSigned(form.constant, pitch);
  LinearForm row(rows), col(form.constant - rows * pitch);
  for (auto [value, coefficient] : form.terms)
    if (coefficient % pitch == 0)
      row.terms[value] = coefficient / pitch;
    else
      col.terms[value] = coefficient;
  return {row, col};
}

FailureOr<Matrix> matrixOf(pto::PartitionViewOp part) {
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  auto strides = view ? getConstantIntValues(getAsOpFoldResult(view.getStrides())) : std::nullopt;
  auto refuse = [&]() -> FailureOr<Matrix> {
    return part.emitOpError("is no window of a matrix in row-major order, which PyPTO's tensors are");
  };
  if (!strides || strides->empty())
    return refuse();
  Builder builder(part.getContext());
  SmallVector<OpFoldResult> sizes = getAsOpFoldResult(part.getSizes());
  Matrix matrix;
  matrix.first = baseOf(view.getPtr()).second;
  matrix.rows = builder.getIndexAttr(1);
  matrix.cols = sizes.back();
  bool isColumn = getConstantIntValue(matrix.cols) == 1;
  bool isRowMajor = !view.getLayout() || *view.getLayout() == pto::Layout::nd || isColumn;
  if (!isRowMajor || (strides->back() != 1 && !isColumn))
    return refuse();
  for (auto [offset, stride] : llvm::zip(part.getOffsets(), *strides))
    matrix.first.add(LinearForm(offset), stride);
  for (size_t i = sizes.size() - 1; i-- > 0;) {
    auto size = getConstantIntValue(sizes[i]), rows = getConstantIntValue(matrix.rows);
    if (size == 1)
      continue;
    if (matrix.pitch && (!size || !rows || (*strides)[i] != *rows * matrix.pitch))
      return refuse();
    matrix.rows = matrix.pitch ? OpFoldResult(builder.getIndexAttr(*size * *rows)) : sizes[i];
    matrix.pitch = matrix.pitch ? matrix.pitch : (*strides)[i];
  }
  if (matrix.pitch < 0 || (matrix.pitch == 0 && getConstantIntValue(matrix.rows) != 1))
    return refuse();
  matrix.hint = sizes.size() > 1 ? (*strides)[strides->size() - 2] : 0;
  return matrix;
}

LinearForm formOf(OpFoldResult extent) {
  auto known = getConstantIntValue(extent);
  return known ? LinearForm(*known) : LinearForm(cast<Value>(extent));
}

std::optional<int64_t> reach(const Matrix &matrix) {
  LinearForm end = matrix.first;
  end.add(formOf(matrix.cols), 1);
  end.add(formOf(matrix.rows), matrix.pitch);
  end.constant -= matrix.pitch;
  return boundsOf(end).most;
}

FailureOr<int64_t> pitchOf(ArrayRef<std::pair<Operation *, Matrix>> windows, int64_t elements) {
  int64_t pitch = 0, widest = 0;
  for (auto &[op, matrix] : windows) {
    auto width = boundsOf(formOf(matrix.cols)).most;
    widest = std::max(widest, width ? *width : elements);
    if (matrix.pitch && pitch && matrix.pitch != pitch)
      return op->emitOpError("has rows ") << matrix.pitch << " elements apart, another window of the argument " << pitch
                                          << ": PyPTO's tensors have one shape";
    pitch = matrix.pitch ? matrix.pitch : pitch;
  }
  if (pitch && pitch < widest)
    return windows.front().first->emitOpError("has ")
           << widest << " columns in rows that lie " << pitch << " elements apart, for which PyPTO has no form";
  for (auto &[op, matrix] : windows)
    if (!pitch && matrix.hint >= widest)
      pitch = matrix.hint;
  return pitch ? pitch : elements;
}

} // namespace pto_mlir::pypto_frontend
