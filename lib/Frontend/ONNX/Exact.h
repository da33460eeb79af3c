// Numbers of a model that ops hold as double.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_EXACT_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_EXACT_H

#include "pto_mlir/Dialect/Top/IR/Constants.h"

namespace pto_mlir::onnx {

/// Whether doubles hold the elements: integers beyond 2^53 need not be among them.
inline bool isExactAsDouble(const top::Weight &weight) {
  return llvm::ArrayRef<char>(top::fromDoubles(weight.type.getElementType(), top::toDoubles(weight))) == weight.bytes;
}

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_EXACT_H
