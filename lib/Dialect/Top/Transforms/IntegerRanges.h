// Whether the 64-bit arithmetic of a net fits the 32 bits that the device has.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_INTEGERRANGES_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_INTEGERRANGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace pto_mlir::top {

/// Whether no engine computes with the integer type though 32 bits hold its values (of u32, those of an i32).
bool isUncomputed(mlir::Type element);

/// Proves by intervals, from constants, shapes and the inputs' ranges, that no i64 sum, difference, product or negation
/// of `func` leaves 32 bits, and that no integer of an isUncomputed type leaves that type, where the model wraps. Where
/// that needs smaller inputs than 32 bits hold, those on which the op depends get the greatest bound that suffices
/// (kIndexBoundAttr, kArithmeticBoundAttr), which the runtime enforces. An error where no bound does. Constants are
/// those of the device already.
llvm::LogicalResult boundIntegers(mlir::func::FuncOp func);

/// The ops, with those in regions, whose integers the device cannot hold exactly: no bound of at least 2^15 for the
/// inputs would keep them within it. With the values that they have, as text.
llvm::MapVector<mlir::Operation *, std::string> integersForHost(mlir::func::FuncOp func);

/// The casts from integer to float whose integers may exceed `exact` in magnitude.
llvm::SmallVector<mlir::Operation *> castsOfLargeIntegers(mlir::func::FuncOp func, int64_t exact);

} // namespace pto_mlir::top

#endif // PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_INTEGERRANGES_H
