// Storage types of integers and booleans on the device.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_NARROWINTEGERS_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_NARROWINTEGERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::top {

/// Stores i64 and i1 tensors of `func` as i32. Arguments and results that change record the model's element type in the
/// attribute kTypeAttr. An i64 constant outside the range of i32 is an error, and so is
/// arithmetic that may leave it whatever the inputs are (IntegerRanges.h).
llvm::LogicalResult narrowIntegers(mlir::func::FuncOp func);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_NARROWINTEGERS_H
