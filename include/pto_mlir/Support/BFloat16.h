// bfloat16 <-> binary32: the upper half of a float, rounded to nearest even on the way down.
#ifndef PTO_MLIR_SUPPORT_BFLOAT16_H
#define PTO_MLIR_SUPPORT_BFLOAT16_H

#include "pto_mlir/Support/Float16.h"

namespace pto_mlir {

/// The float with the value of the bfloat16 pattern `value` (exact).
inline float bfloat16ToFloat(uint16_t value) { return detail::floatOf(uint32_t(value) << 16); }

/// The bfloat16 pattern nearest to `value`, ties to even; a NaN stays a (quiet) NaN.
inline uint16_t floatToBFloat16(float value) {
  uint32_t bits = detail::bitsOf(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x0040u;
  return uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

} // namespace pto_mlir

#endif
