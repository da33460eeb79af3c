// Constants of a top module: `top.weight` and `arith.constant` behind one interface.
#ifndef PTO_MLIR_DIALECT_TOP_IR_CONSTANTS_H
#define PTO_MLIR_DIALECT_TOP_IR_CONSTANTS_H

#include "mlir/IR/Builders.h"
#include "pto_mlir/Dialect/Top/IR/WeightStore.h"

namespace pto_mlir::top {

/// Constants of up to this many elements stay inline, as arith.constant.
inline constexpr int64_t kMaxInlineElements = 64;

/// Constants that are computed of others have at most this many bytes; what would be larger is left to a run.
inline constexpr int64_t kMostComputedBytes = int64_t(1) << 31;

/// The stored bytes of the constant that defines `value`: a top.weight found in the store, or an arith.constant.
/// nullopt if it is neither.
std::optional<Weight> getConstant(mlir::Value value);

/// The elements in row-major order as doubles or integers. Floats are truncated to integers; unsigned 64-bit values
/// wrap.
std::vector<double> toDoubles(const Weight &weight);
std::vector<int64_t> toInts(const Weight &weight);

/// Bytes of `values` converted to the element type: floats rounded to nearest even, integers truncated and saturated.
std::vector<char> fromDoubles(mlir::Type elementType, llvm::ArrayRef<double> values);
/// Bytes of `weight` converted to a float type, rounded to nearest even.
std::vector<char> toFloats(const Weight &weight, mlir::FloatType type);
/// Bytes of `values` converted to an integer type (low bits) or a float type (rounded).
std::vector<char> fromInts(mlir::Type elementType, llvm::ArrayRef<int64_t> values);

/// Whether an element of a type with a NaN of 16 bits or more is one.
bool holdsNaN(const Weight &weight);

/// The value of a constant whose elements are all equal; nullopt otherwise.
std::optional<double> getSplat(mlir::Value value);

/// Creates a constant: inline up to kMaxInlineElements, otherwise a new entry of the store named `name`, made unique.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                           mlir::RankedTensorType type, std::vector<char> bytes);

/// As above, for bytes kept alive by `weight.owner`.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name, const Weight &weight);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_CONSTANTS_H
