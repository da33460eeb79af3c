// exp and log of f32 from branch-free additions and multiplications: loops over them vectorise, and every machine
// computes the same bits. The error is below 1.5 ULP, measured by unittests/CModel/VectorMathTest.cpp.
#ifndef PTO_MLIR_CMODEL_VECTORMATH_H
#define PTO_MLIR_CMODEL_VECTORMATH_H

#include "pto_mlir/Support/Float16.h"

#include <cmath>
#include <limits>

namespace pto_mlir::cmodel {

/// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2. ln 2 is split (Cody-Waite) so that n * high is exact; the
/// polynomial coefficients are those of Cephes expf.
inline float expFloat(float x) {
  constexpr float shift = 0x1.8p23f; // adding it rounds to an integer, held in the low mantissa bits
  float clamped = x < -104.0f ? -104.0f : x;
  clamped = clamped > 89.0f ? 89.0f : clamped;
  float shifted = clamped * 0x1.715476p+0f + shift;
  float n = shifted - shift;
  float r = clamped - n * 0x1.63p-1f; // 0.693359375
  r = r - n * -0x1.bd0106p-13f;       // ln 2 - 0.693359375
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  float e = p * (r * r) + r + 1.0f;
  // Two scale factors, so that neither overflows when the result is subnormal or close to overflow.
  int32_t exponent = int32_t(detail::bitsOf(shifted)) - int32_t(0x4b400000);
  int32_t half = exponent >> 1;
  float result =
      e * detail::floatOf(uint32_t(half + 127) << 23) * detail::floatOf(uint32_t(exponent - half + 127) << 23);
  return x != x ? x : result;
}

/// log(x) = e ln 2 + log(m), sqrt(1/2) <= m < sqrt(2), with the polynomial of Cephes logf. log(0) = -inf; negative
/// values give NaN.
inline float logFloat(float x) {
  bool tiny = x < 0x1p-126f;
  float scaled = tiny ? x * 0x1p23f : x;
  uint32_t bits = detail::bitsOf(scaled) - 0x3f3504f3u; // bits of sqrt(1/2)
  int32_t e = int32_t(bits) >> 23;
  float m = detail::floatOf((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float exponent = float(e) - (tiny ? 23.0f : 0.0f);
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float z = m * m;
  float y = p * m * z;
  y = y + exponent * -2.12194440e-4f;
  y = y - 0.5f * z;
  float result = m + y + exponent * 0.693359375f;
  result = x == std::numeric_limits<float>::infinity() ? x : result;
  result = x == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  result = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : result;
  return x != x ? x : result;
}

} // namespace pto_mlir::cmodel

#endif
