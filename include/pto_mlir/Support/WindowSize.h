// Output sizes of windows along one dimension.
#ifndef PTO_MLIR_SUPPORT_WINDOWSIZE_H
#define PTO_MLIR_SUPPORT_WINDOWSIZE_H

#include "pto_mlir/Support/MathExtras.h"

#include <cstdint>
#include <optional>

namespace pto_mlir {

/// Of a convolution or pool: floor or ceil of (in + begin + end - dilation * (kernel - 1) - 1) / stride, plus 1. With
/// ceil, a last window that starts beyond in + begin is dropped (ONNX, AveragePool-19). nullopt if no window fits.
/// Sizes must be positive, pads not negative.
inline std::optional<int64_t> windowOutputSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                                               int64_t begin, int64_t end, bool ceil) {
  int64_t extent, padded, room;
  if (__builtin_mul_overflow(dilation, kernel - 1, &extent) || __builtin_add_overflow(in, begin, &padded) ||
      __builtin_add_overflow(padded, end, &padded) || __builtin_sub_overflow(padded, extent + 1, &room) || room < 0)
    return std::nullopt;
  int64_t out = (ceil ? ceilDiv(room, stride) : room / stride) + 1;
  if (ceil && (out - 1) * stride >= in + begin)
    --out;
  return out;
}

/// Of a transposed convolution: stride * (in - 1) + dilation * (kernel - 1) + 1 - begin - end + extra; nullopt if that
/// is not positive or beyond 2^31 - 1.
inline std::optional<int64_t> transposedOutputSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                                                   int64_t begin, int64_t end, int64_t extra) {
  int64_t steps, extent, size;
  if (in < 1 || __builtin_mul_overflow(stride, in - 1, &steps) ||
      __builtin_mul_overflow(dilation, kernel - 1, &extent) || __builtin_add_overflow(steps, extent, &size) ||
      __builtin_add_overflow(size, 1 + extra - begin - end, &size) || size < 1 || size > INT32_MAX)
    return std::nullopt;
  return size;
}

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_WINDOWSIZE_H
