// Correctly rounded 1 / sqrt over a line of f32, without double precision on the fast path.
#ifndef PTO_MLIR_CMODEL_RSQRTLINE_H
#define PTO_MLIR_CMODEL_RSQRTLINE_H

#include <cmath>
#include <cstddef>

#if defined(__FMA__) && defined(__AVX2__)
#define PTO_HAVE_RSQRT_LINE
#include <immintrin.h>
#endif

namespace pto_mlir::cmodel {

#if defined(PTO_HAVE_RSQRT_LINE)
// Internal linkage: the unit test compiles this header for a different target than the rest of its binary.
/// to[i] = 1 / sqrt(from[i]), i < n, bit-identical to ReciprocalSqrt; `to` and `from` are equal or do not overlap.
///
/// The hardware estimate after one Newton step, y, has a relative error below 2^-21 on every processor. Fused
/// multiply-adds give the residual r = 1 - x y y with an error below 2^-45. y + y r / 2 is correctly rounded if
/// perturbing r by +-2^-42 does not change it; otherwise (about one in 10^4 blocks of 8), and for subnormal x, the
/// block is computed in double. RsqrtLineTest compares all mantissas.
static inline void rsqrtLine(float *to, const float *from, size_t n) {
  const __m256 half = _mm256_set1_ps(0.5f), little = _mm256_set1_ps(0x1p-42f),
               magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  auto exactly = [](float x) { return float(1.0 / std::sqrt(double(x))); };
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256 x = _mm256_loadu_ps(from + i), estimate = _mm256_rsqrt_ps(x);
    __m256 error = _mm256_fnmadd_ps(_mm256_mul_ps(_mm256_mul_ps(x, half), estimate), estimate, half);
    __m256 y = _mm256_fmadd_ps(estimate, error, estimate), halfY = _mm256_mul_ps(y, half);
    __m256 product = _mm256_mul_ps(x, y), low = _mm256_fmsub_ps(x, y, product); // product + low = x y
    __m256 rest = _mm256_fnmadd_ps(low, halfY, _mm256_fnmadd_ps(product, halfY, half));
    __m256 more = _mm256_fmadd_ps(y, _mm256_add_ps(rest, little), y),
           less = _mm256_fmadd_ps(y, _mm256_sub_ps(rest, little), y);
    __m256 result =
        _mm256_blendv_ps(more, estimate, _mm256_cmp_ps(rest, rest, _CMP_UNORD_Q)); // 0, infinity, negative numbers, NaN
    __m256 subnormal = _mm256_and_ps(_mm256_cmp_ps(_mm256_and_ps(x, magnitude), _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ),
                                     _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_OQ));
    if (_mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(more, less, _CMP_NEQ_OQ), subnormal))) {
      for (size_t j = i; j < i + 8; ++j)
        to[j] = exactly(from[j]);
      continue;
    }
    _mm256_storeu_ps(to + i, result);
  }
  for (; i < n; ++i)
    to[i] = exactly(from[i]);
}
#endif

} // namespace pto_mlir::cmodel

#endif
