// How integers and booleans are stored on the device.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_NARROWINTEGERS_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_NARROWINTEGERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir::top {

/// Stores i64 and i1 tensors of `func` as i32. Arguments and results that change note the model's element type in their
/// attribute kTypeAttr. An i64 constant that i32 cannot hold is an error.
llvm::LogicalResult narrowIntegers(mlir::func::FuncOp func);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_NARROWINTEGERS_H
