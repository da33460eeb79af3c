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

/// Whether each channel of a convolution has a filter of its own, and no other output.
inline bool isDepthwise(int64_t groups, int64_t channels, int64_t outChannels) {
  return groups > 1 && channels == groups && outChannels == groups;
}

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_LAYOUT_H
