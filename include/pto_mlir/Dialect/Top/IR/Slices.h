//===- Slices.h - what a slice takes ------------------------------*- C++ -*-===//

#ifndef PTO_MLIR_DIALECT_TOP_IR_SLICES_H
#define PTO_MLIR_DIALECT_TOP_IR_SLICES_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace pto_mlir::top {

/// Slices, and rows of tensors inside of others, begin at multiples of so many bytes, which every transfer takes.
inline constexpr int64_t kSliceAlignment = 32;

/// Whether the result is the input.
inline bool takesAll(SliceOp op) {
  return op.getInput().getType() == op.getType() && llvm::all_of(op.getSteps(), [](int64_t step) { return step == 1; });
}

/// The number of the first element of a slice that is one piece of its source's memory; nullopt for any other slice.
inline std::optional<int64_t> firstOfPiece(mlir::tensor::ExtractSliceOp slice) {
  mlir::RankedTensorType source = slice.getSourceType();
  if (!source.hasStaticShape() || !slice.getType().hasStaticShape() || !slice.getOffsets().empty() ||
      !slice.getStrides().empty() || llvm::any_of(slice.getStaticStrides(), [](int64_t step) { return step != 1; }))
    return std::nullopt;
  int64_t first = 0;
  bool isWhole = true; // of the dimensions behind
  for (int64_t dim = source.getRank() - 1, stride = 1; dim >= 0; --dim) {
    int64_t size = slice.getStaticSizes()[dim];
    if (size != 1 && !isWhole)
      return std::nullopt;
    isWhole &= size == source.getDimSize(dim);
    first += slice.getStaticOffsets()[dim] * stride;
    stride *= source.getDimSize(dim);
  }
  return first;
}

/// The same elements of each row.
struct Columns {
  int64_t begin, size, row, rows; ///< in elements; the number of rows
};

/// What a slice takes if that is a run of elements of each row; nullopt for any other slice.
inline std::optional<Columns> columnsOf(mlir::tensor::ExtractSliceOp slice) {
  mlir::RankedTensorType source = slice.getSourceType(), type = slice.getType();
  if (!source.hasStaticShape() || !type.hasStaticShape() || source.getRank() != type.getRank() ||
      !slice.getOffsets().empty() || llvm::any_of(slice.getStaticStrides(), [](int64_t step) { return step != 1; }))
    return std::nullopt;
  Columns columns{0, 1, 1, 1};
  bool isCut = false;
  for (int64_t dim = source.getRank() - 1; dim >= 0; --dim) {
    int64_t size = type.getDimSize(dim), all = source.getDimSize(dim);
    if (isCut && size != all)
      return std::nullopt;
    if (isCut) {
      columns.rows *= all;
      continue;
    }
    isCut = size != all;
    columns = {slice.getStaticOffsets()[dim] * columns.row, size * columns.row, all * columns.row, 1};
  }
  return columns;
}

/// Where the elements of a slice of either kind begin in its source.
inline int64_t beginOf(mlir::tensor::ExtractSliceOp slice) {
  if (auto first = firstOfPiece(slice))
    return *first;
  auto columns = columnsOf(slice);
  return columns ? columns->begin : 0;
}

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_SLICES_H
