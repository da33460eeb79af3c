// The interpolation weights of a resize.
#ifndef PTO_MLIR_SUPPORT_RESIZETAPS_H
#define PTO_MLIR_SUPPORT_RESIZETAPS_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace pto_mlir {

/// An input index and its weight in an output element.
struct ResizeTap {
  int64_t index;
  double weight;
};

/// One dimension of a resize, in the terms of ONNX's operator; `in` is positive.
struct ResizeLine {
  std::string_view mode, coordinates, nearest;
  int64_t in = 1, out = 1;
  double scale = 1, roiStart = 0, roiEnd = 1, cubicA = -0.75;
  bool excludeOutside = false, antialias = false;
  bool isDouble = false; ///< coordinates in double, as for f64; else in float32, as onnxruntime computes them
};

/// The taps of every output element; one outside of the image under tf_crop_and_resize has none. Formulas: ONNX,
/// operator Resize 19.
std::vector<std::vector<ResizeTap>> resizeTaps(const ResizeLine &line);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_RESIZETAPS_H
