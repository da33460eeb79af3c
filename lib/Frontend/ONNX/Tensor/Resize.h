// What the importers of Resize share, those of fixed sizes and those of sizes that a run decides.
#ifndef PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_RESIZE_H
#define PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_RESIZE_H

#include "../Registry.h"

namespace pto_mlir::onnx {

/// The attributes of a Resize of opset 11 and later.
struct ResizeAttributes {
  std::string mode, coordinates, nearest, policy = "stretch";
  double cubicA, extrapolation;
  bool excludeOutside, antialias = false;
  llvm::SmallVector<int64_t> axes; ///< not negative, in the order of scales, sizes and roi
};

/// Reads them; nullopt after an error.
std::optional<ResizeAttributes> readResize(Node &node);

/// Mode, coordinates and nearest_mode of Upsample and Resize 10, which have no coordinate modes: the source is
/// x / scale, rounded down.
llvm::SmallVector<mlir::NamedAttribute> upsampleAttributes(Node &node);

} // namespace pto_mlir::onnx

#endif // PTO_MLIR_LIB_FRONTEND_ONNX_TENSOR_RESIZE_H
