//===- Quantised.h - quantised types to integers ----------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_QUANTISED_H
#define PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_QUANTISED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::top_to_linalg {

/// Replaces quantised types in `func` by the integers that they store, and ops on them by ops that say what becomes of
/// the scales: products with sums of i32, requantised by a linalg.generic. The zero point of a product's left operand
/// goes into the bias, and what pads a convolution's input is its zero point. Ops that have no such form are errors.
llvm::LogicalResult lowerQuantised(mlir::func::FuncOp func);

} // namespace pto_mlir::top_to_linalg

#endif // PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_QUANTISED_H
