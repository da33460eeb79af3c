// Steps that quantising operators share: whole numbers as floats, and back.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_MATH_QUANTIZATION_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_MATH_QUANTIZATION_H

#include "../Composite.h"

namespace pto_mlir::onnx {

/// Input `i` so that it broadcasts to a tensor of `rank` dimensions: of one element as a scalar, of one dimension as
/// dimension `axis`, of `rank` dimensions as it is. Reports an error for other shapes.
mlir::Value alongAxis(Node &node, unsigned i, int64_t rank, int64_t axis);

/// The nearest whole numbers (ties to even) of `scaled` plus `zero` (may be null), saturated to the integer type `to`,
/// as output `name`. Exact for types of up to 16 bits.
mlir::Value roundTo(Node &node, mlir::Value scaled, mlir::Value zero, mlir::Type to, llvm::StringRef name);

/// The importer of an operator whose whole numbers, sums and scales no mode may round: a number of 8 bits is exact in
/// f16 and bf16 at most, and a product of two scales is below the normal numbers of f16.
template <mlir::LogicalResult (*importer)(Node &)> mlir::LogicalResult exactly(Node &node) {
  Node::Wide wide(node);
  return importer(node);
}

/// The float type that holds sums of `count` products of numbers of 8 bits and the bias (input `bias` where `hasBias`)
/// exactly.
mlir::Type exactType(Node &node, int64_t count, unsigned bias, bool hasBias);

/// Input `i` without its zero point, input `zero`, as floats of the type. The zero point is one number, or one for each
/// index of `axis`.
mlir::Value centred(Node &node, unsigned i, unsigned zero, mlir::Type type, int64_t axis);

/// `x` as whole numbers of 8 bits without their zero point, and their scale: the range of x and 0 in 255 steps.
std::pair<mlir::Value, mlir::Value> dynamicallyQuantised(Node &node, mlir::Value x);

/// The product of matrices; a vector is a row on the left and a column on the right, which the result does without.
mlir::Value vectorProduct(Node &node, mlir::Value x, mlir::Value y);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_MATH_QUANTIZATION_H
