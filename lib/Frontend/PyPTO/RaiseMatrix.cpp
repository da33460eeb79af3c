// Windows of a pointer as windows of an array in row-major order.
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
  if (rows < 0 && row.terms.empty()) { // what is left brings it back
    row.constant = 0;
    col.constant = form.constant;
  }
  return {row, col};
}

FailureOr<Rows> rowsOf(pto::PartitionViewOp part) {
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  auto strides = view ? getConstantIntValues(getAsOpFoldResult(view.getStrides())) : std::nullopt;
  auto refuse = [&]() -> FailureOr<Rows> {
    return part.emitOpError("is no window of an array in row-major order, which PyPTO's tensors are");
  };
  if (!strides || strides->empty())
    return refuse();
  Builder builder(part.getContext());
  SmallVector<OpFoldResult> sizes = getAsOpFoldResult(part.getSizes());
  Rows rows;
  rows.first = baseOf(view.getPtr()).second;
  rows.cols = sizes.back();
  bool isColumn = getConstantIntValue(rows.cols) == 1;
  if (view.getLayout() == pto::Layout::dn && !isColumn && sizes.size() == 2 && strides->front() == 1 &&
      strides->back() > 0) {
    rows.cols = sizes[0];
    rows.axes = {{sizes[1], strides->back()}};
    rows.isTransposed = true;
    for (auto [offset, stride] : llvm::zip(part.getOffsets(), *strides))
      rows.first.add(LinearForm(offset), stride);
    return rows;
  }
  bool isRowMajor = !view.getLayout() || *view.getLayout() == pto::Layout::nd || isColumn;
  if (!isRowMajor || (strides->back() != 1 && !isColumn))
    return refuse();
  for (auto [offset, stride] : llvm::zip(part.getOffsets(), *strides))
    rows.first.add(LinearForm(offset), stride);
  for (size_t i = sizes.size() - 1; i-- > 0;) {
    auto size = getConstantIntValue(sizes[i]);
    if (size == 1)
      continue;
    auto inner = rows.axes.empty() ? std::nullopt : getConstantIntValue(rows.axes.front().size);
    if (inner && size && (*strides)[i] == *inner * rows.axes.front().stride) // goes on where the inner axis ends
      rows.axes.front().size = builder.getIndexAttr(*size * *inner);
    else if ((*strides)[i] > 0)
      rows.axes.insert(rows.axes.begin(), {sizes[i], (*strides)[i]});
    else
      return refuse();
  }
  rows.hint = sizes.size() > 1 ? (*strides)[strides->size() - 2] : 0;
  return rows;
}

LinearForm formOf(OpFoldResult extent) {
  auto known = getConstantIntValue(extent);
  return known ? LinearForm(*known) : LinearForm(cast<Value>(extent));
}

std::optional<int64_t> reach(const Rows &rows) {
  LinearForm end = rows.first;
  end.add(formOf(rows.cols), 1);
  for (const Rows::Axis &axis : rows.axes) {
    end.add(formOf(axis.size), axis.stride);
    end.constant -= axis.stride;
  }
  return boundsOf(end).most;
}

std::optional<SmallVector<int64_t>> stridesOf(ArrayRef<Rows> windows, int64_t elements, std::string &why) {
  int64_t widest = 0;
  SmallVector<int64_t> strides;
  for (const Rows &rows : windows) {
    auto width = boundsOf(formOf(rows.cols)).most;
    widest = std::max(widest, width ? *width : elements);
    for (const Rows::Axis &axis : rows.axes)
      if (!llvm::is_contained(strides, axis.stride))
        strides.push_back(axis.stride);
  }
  llvm::sort(strides, std::greater<int64_t>());
  for (size_t i = 1; i < strides.size(); ++i)
    if (strides[i - 1] % strides[i]) {
      why = "has rows " + std::to_string(strides[i - 1]) + " and rows " + std::to_string(strides[i]) +
            " elements apart, for which PyPTO has no form";
      return std::nullopt;
    }
  if (!strides.empty() && strides.back() < widest) {
    why = "has " + std::to_string(widest) + " columns in rows that lie " + std::to_string(strides.back()) +
          " elements apart, for which PyPTO has no form";
    return std::nullopt;
  }
  for (const Rows &rows : windows)
    if (strides.empty() && rows.hint >= widest)
      strides.push_back(rows.hint);
  if (strides.empty())
    strides.push_back(elements);
  strides.push_back(1);
  if (strides.size() > 5) {
    why = "is of an array of " + std::to_string(strides.size()) + " axes; tensors of PyPTO's kernels have 5 at most";
    return std::nullopt;
  }
  return strides;
}

std::optional<SmallVector<SmallVector<int64_t>>> arraysOf(ArrayRef<Rows> windows, int64_t elements, std::string &why) {
  SmallVector<SmallVector<Rows>> groups;
  SmallVector<SmallVector<int64_t>> arrays;
  if (auto one = stridesOf(windows, elements, why))
    return SmallVector<SmallVector<int64_t>>{*one};
  for (const Rows &rows : windows) {
    bool found = false;
    for (auto [group, strides] : llvm::zip(groups, arrays)) {
      group.push_back(rows);
      if (auto both = stridesOf(group, elements, why)) {
        strides = *both;
        found = true;
        break;
      }
      group.pop_back();
    }
    if (found)
      continue;
    auto own = stridesOf(rows, elements, why);
    if (!own)
      return std::nullopt;
    groups.push_back({rows});
    arrays.push_back(*own);
  }
  return arrays;
}

bool isOf(const Rows &rows, ArrayRef<int64_t> strides) {
  auto width = boundsOf(formOf(rows.cols)).most;
  return (!width || *width <= strides[strides.size() - 2]) && llvm::all_of(rows.axes, [&](const Rows::Axis &axis) {
           return llvm::is_contained(strides.drop_back(), axis.stride);
         });
}

} // namespace pto_mlir::pypto_frontend
