//===- WeightPacking.cpp - order of packed filters ------------------------===//

#include "pto_mlir/Kernels/CubeTiling.h"
#include "pto_mlir/Kernels/CubeWeights.h"

#include <cstring>

namespace pto_mlir::cube {

int64_t packedRows(const FilterShape &shape, unsigned bytes) {
  return roundUp(shape.channels, blockChannels(bytes)) * shape.kernelH * shape.kernelW;
}

bool packingIsIdentity(const FilterShape &shape, FilterLayout layout, unsigned bytes) {
  if (layout == FilterLayout::GFHWC)
    return shape.features == 1 && shape.channels == blockChannels(bytes);
  if (shape.kernelH * shape.kernelW == 1)
    return shape.channels % blockChannels(bytes) == 0;
  return shape.channels == blockChannels(bytes);
}

std::vector<uint8_t> packFilter(const uint8_t *source, const FilterShape &shape, FilterLayout layout, unsigned bytes) {
  const int64_t c0 = blockChannels(bytes);
  const int64_t taps = shape.kernelH * shape.kernelW;
  const int64_t rows = packedRows(shape, bytes);
  std::vector<uint8_t> packed(shape.groups * rows * shape.features * bytes);
  for (int64_t g = 0; g < shape.groups; ++g)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < shape.channels; ++c) {
        int64_t row = (c / c0 * taps + tap) * c0 + c % c0;
        uint8_t *to = packed.data() + (g * rows + row) * shape.features * bytes;
        if (layout == FilterLayout::HWCF) {
          // One group; a row of features is contiguous on both sides.
          std::memcpy(to, source + (tap * shape.channels + c) * shape.features * bytes, shape.features * bytes);
          continue;
        }
        for (int64_t f = 0; f < shape.features; ++f)
          std::memcpy(to + f * bytes, source + (((g * shape.features + f) * taps + tap) * shape.channels + c) * bytes,
                      bytes);
      }
  return packed;
}

} // namespace pto_mlir::cube
