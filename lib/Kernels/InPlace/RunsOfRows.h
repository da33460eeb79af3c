//===- RunsOfRows.h - several rows that are moved as one ------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_KERNELS_INPLACE_RUNSOFROWS_H
#define PTO_MLIR_LIB_KERNELS_INPLACE_RUNSOFROWS_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::kernels {

/// Whether the innermost dimension of a view is a run of several rows of `row` elements, whose parts are loaded to, or
/// stored from, tiles that can be looked at row by row.
bool isRunOfRows(pto::MakeTensorViewOp view, int64_t row);

/// Gives such a view the rows as a dimension of their own, `pitch` elements apart. Its other strides are left alone.
void splitRun(pto::MakeTensorViewOp view, int64_t row, int64_t pitch);

} // namespace pto_mlir::kernels

#endif // PTO_MLIR_LIB_KERNELS_INPLACE_RUNSOFROWS_H
