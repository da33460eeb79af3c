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

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_MATH_QUANTIZATION_H
