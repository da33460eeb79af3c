// Constants of a top module, whichever way they are held: `top.weight` or `arith.constant`.
#ifndef PTO_MLIR_DIALECT_TOP_IR_CONSTANTS_H
#define PTO_MLIR_DIALECT_TOP_IR_CONSTANTS_H

#include "mlir/IR/Builders.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

namespace pto_mlir::top {

/// A constant may stay inline (as arith.constant) up to this many elements.
inline constexpr int64_t kMaxInlineElements = 64;

/// The constant tensor that defines `value` (a top.weight found in the store, or an arith.constant with elements), as
/// stored bytes.
std::optional<Weight> getConstant(mlir::Value value);

/// Elements as doubles / integers (floats truncate; unsigned 64-bit values wrap). In row-major order.
std::vector<double> toDoubles(const Weight &weight);
std::vector<int64_t> toInts(const Weight &weight);

/// Bytes of `values` rounded to the element type: floats to nearest even, integers truncated and saturated.
std::vector<char> fromDoubles(mlir::Type elementType, llvm::ArrayRef<double> values);
/// Elements of `weight` rounded to a float type, to nearest even.
std::vector<char> toFloats(const Weight &weight, mlir::FloatType type);
/// Bytes of `values` in an integer type (low bits) or a float type (rounded).
std::vector<char> fromInts(mlir::Type elementType, llvm::ArrayRef<int64_t> values);

/// The value of a constant whose elements are all equal.
std::optional<double> getSplat(mlir::Value value);

/// Makes a constant: inline up to kMaxInlineElements, else a new entry of the store under (about) `name`.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                           mlir::RankedTensorType type, std::vector<char> bytes);

/// The same for bytes that something else keeps alive.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, const Weight &weight);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_CONSTANTS_H
