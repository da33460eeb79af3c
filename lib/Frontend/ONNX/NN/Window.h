// Window attributes shared by convolutions and pools: kernel, strides, pads, dilations, auto_pad.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_NN_WINDOW_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_NN_WINDOW_H

#include "../Node.h"

namespace pto_mlir::onnx {

struct Window {
  llvm::SmallVector<int64_t> strides, pads, dilations; ///< pads: all begins, then all ends
};

/// Reads the attributes of a window op on input 0 ([N, C, spatial..]) with defaults filled in and auto_pad resolved:
/// SAME pads so that the output is ceil(in / stride), the odd element at the end (UPPER) or at the beginning (LOWER).
/// Nullopt after an error. `firstDim`: of the spatial dimensions, 1 where the channels come last.
std::optional<Window> readWindow(Node &node, llvm::ArrayRef<int64_t> kernel, bool hasDilations, unsigned firstDim = 2);

/// Sets output 0 of a window op on an empty input, and the places that are output 1 where it has two `outputs`, where
/// the padded image is one element short of a window: there is room for none, which top's windows refuse. Whether it
/// was so.
bool isBetweenWindows(Node &node, const Window &window, llvm::ArrayRef<int64_t> kernel, int64_t channels,
                      unsigned outputs = 1);

/// The channels from dimension 1 to the last one, or back.
mlir::Value channelsLast(Node &node, llvm::StringRef name, mlir::Value value);
mlir::Value channelsFirst(Node &node, llvm::StringRef name, mlir::Value value);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_NN_WINDOW_H
