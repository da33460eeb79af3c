// The value of ConstantOfShape.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_FILLING_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_FILLING_H

#include "../Node.h"

namespace pto_mlir::onnx {

/// The one element of attribute 'value', a zero of f32 without; nullopt after an error.
std::optional<top::Weight> fillingOf(Node &node);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_FILLING_H
