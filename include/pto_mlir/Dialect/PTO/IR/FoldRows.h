//===- FoldRows.h - reduce the rows of a tile by halves ---------*- C++ -*-===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_FOLDROWS_H
#define PTO_MLIR_DIALECT_PTO_IR_FOLDROWS_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

#include "mlir/IR/Builders.h"

namespace pto_mlir::pto {

/// Whether `foldRows` takes `tile`: a row-major one of three rows or more. With a number of rows known at run time it
/// takes sums only.
bool canFoldRows(TileBufType tile, bool sum);

/// Reduces the rows of `source` to the one of `result` by `combine(a, b, to)` on tiles of one shape: rows at a distance
/// of the greatest power of two below their number, then at half of it, until one is left. An instruction that reduces
/// rows (tcolsum) takes them one by one, 19 cycles each; this takes 2 a row. Rows of zeros behind the last one change
/// no sum, so the bits are the same whether the number of rows is known or not. `columns`: the valid columns of
/// `source`, null where they are static. `source` stays as it is.
void foldRows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source, mlir::Value columns, mlir::Value result,
              llvm::function_ref<void(mlir::Value, mlir::Value, mlir::Value)> combine);

} // namespace pto_mlir::pto

#endif
