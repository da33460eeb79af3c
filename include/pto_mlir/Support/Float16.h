// IEEE binary16 <-> binary32, in integer arithmetic without branches: the loops that call these vectorise on any
// machine, and the results (NaN payloads included) are those of the F16C instructions.
#ifndef PTO_MLIR_SUPPORT_FLOAT16_H
#define PTO_MLIR_SUPPORT_FLOAT16_H

#include <cstdint>
#include <cstring>

namespace pto_mlir {

namespace detail {
inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
} // namespace detail

/// The float with the value of the binary16 pattern `half` (exact; a signalling NaN becomes quiet).
inline float halfToFloat(uint16_t half) {
  uint32_t magnitude = half & 0x7fffu;
  // Read as a float, magnitude << 13 is the value times 2^-112, subnormals included.
  uint32_t finite = detail::bitsOf(detail::floatOf(magnitude << 13) * 0x1p112f);
  uint32_t special = 0x7f800000u | (magnitude << 13) | (magnitude > 0x7c00u ? 0x00400000u : 0u);
  uint32_t bits = magnitude >= 0x7c00u ? special : finite;
  return detail::floatOf(bits | (uint32_t(half & 0x8000u) << 16));
}

/// The binary16 pattern nearest to `value`, ties to even; beyond 65504 (by half a step) infinity.
inline uint16_t floatToHalf(float value) {
  uint32_t bits = detail::bitsOf(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  // Adding 0.5 aligns the last bit of a subnormal half (2^-24) with the last bit of the float, so the addition rounds.
  uint32_t subnormal = detail::bitsOf(detail::floatOf(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? (0x7e00u | ((magnitude >> 13) & 0x3ffu)) : result;
  return uint16_t(result | sign);
}

} // namespace pto_mlir

#endif
