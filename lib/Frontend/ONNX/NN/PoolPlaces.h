// The places of the maxima that MaxPool names.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NN_POOLPLACES_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NN_POOLPLACES_H

#include "../Composite.h"
#include "Window.h"

namespace pto_mlir::onnx {

/// The numbers of the elements of input 0, [N, C, d..], that are the maxima of their windows; of equal ones the first.
/// `columnsFirst`: the first of the dimensions d.. counts fastest (storage_order 1). Null after an error.
mlir::Value maximumPlaces(Node &node, llvm::StringRef name, mlir::Value maxima, llvm::ArrayRef<int64_t> kernel,
                          const Window &window, bool columnsFirst);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NN_POOLPLACES_H
