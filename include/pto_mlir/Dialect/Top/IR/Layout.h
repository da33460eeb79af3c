// The meaning of the dimensions of a feature map.
#ifndef PTO_MLIR_DIALECT_TOP_IR_LAYOUT_H
#define PTO_MLIR_DIALECT_TOP_IR_LAYOUT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace pto_mlir::top {

/// The channel dimension: 1 (NCHW) or the last (NHWC).
inline int64_t channelDim(llvm::StringRef layout, int64_t rank) { return layout == "NHWC" ? rank - 1 : 1; }

/// The first spatial dimension; the others follow it.
inline int64_t firstSpatialDim(llvm::StringRef layout) { return layout == "NHWC" ? 1 : 2; }

/// Output size of a window op along one dimension: floor or ceil of (in + begin + end - dilation * (kernel - 1) - 1) /
/// stride, plus 1. With ceil, a last window that starts beyond in + begin is dropped (ONNX, AveragePool-19). nullopt if
/// no window fits. Sizes must be positive, pads not negative.
std::optional<int64_t> windowOutputSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t begin,
                                        int64_t end, bool ceil);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_LAYOUT_H
