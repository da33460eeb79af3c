// Quantised element types (MLIR's quant dialect) of top tensors: real = scale * (stored - zero point).
#ifndef PTO_MLIR_DIALECT_TOP_IR_QUANTISED_H
#define PTO_MLIR_DIALECT_TOP_IR_QUANTISED_H

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace pto_mlir::top {

/// The quantised element type of a tensor or element type; null for any other.
mlir::quant::QuantizedType quantisedElement(mlir::Type type);

/// Whether tensors of top may have elements of this type: !quant.uniform, per tensor or per axis, stored in 8 bits.
bool isTopQuantised(mlir::Type element);

/// `type` with quantised elements, or narrow floats, replaced by the integers in which they are stored; any other type
/// as it is.
mlir::Type storageType(mlir::Type type);

/// Scales and zero points: one of each, or one per index of dimension `axis`.
struct QuantParameters {
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  std::optional<int64_t> axis;
};
QuantParameters quantParameters(mlir::quant::QuantizedType type);

/// Whether tensors of `shape` may have elements of this type: an axis must be one of its dimensions, with as many
/// scales. Any type but a quantised one fits.
bool fitsShape(mlir::Type element, llvm::ArrayRef<int64_t> shape);

/// The element type of a transposition: dimension i of the result is dimension perm[i] of the operand.
mlir::Type permutedElement(mlir::Type element, llvm::ArrayRef<int64_t> perm);

/// The element type of a reshape from one shape to another; null where the scaled dimension is merged or split.
mlir::Type reshapedElement(mlir::Type element, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_QUANTISED_H
