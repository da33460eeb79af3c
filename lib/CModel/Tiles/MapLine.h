// Vectorised application of a scalar function to one line of elements.
#ifndef PTO_MLIR_CMODEL_MAPLINE_H
#define PTO_MLIR_CMODEL_MAPLINE_H

#include "Arithmetic/Element.h"

#include <cstddef>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace pto_mlir::cmodel {

#if defined(__F16C__)
/// Eight elements as f32. In assembly, because the compiler folds the intrinsic into comparisons in the narrow type,
/// which it then executes one by one.
inline __m256 widenEight(const Half *from) {
  __m256 wide;
  __asm__("vcvtph2ps %1, %0" : "=x"(wide) : "m"(*reinterpret_cast<const __m128i_u *>(from)));
  return wide;
}
#endif

/// Conversion of n elements from f16 to f32.
inline void widen(float *to, const Half *from, size_t n) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, widenEight(from + i));
#endif
  for (; i < n; ++i)
    to[i] = load(from[i]);
}

/// Conversion of n elements from f32 to f16, rounded to nearest even.
inline void narrow(Half *to, const float *from, size_t n) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i)
    to[i] = toHalf(from[i]);
}

/// A few elements in their compute type: f16 is widened into a buffer, other types are used in place.
inline constexpr size_t lineChunk = 64;
template <class T> struct Widened {
  const T *data;
  Widened(const T *p, size_t) : data(p) {}
};
template <> struct Widened<Half> {
  float data[lineChunk];
  Widened(const Half *p, size_t n) { widen(data, p, n); }
};

/// Calls f(i) for i < n in blocks of 32, then 8, then one by one: rows of tiles are short, and the compiler's own
/// vectorisation would execute the remainder element by element.
template <class F> inline void forBlocks(size_t n, F f) __attribute__((always_inline));
template <class F> inline void forBlocks(size_t n, F f) {
  size_t wide = n & ~size_t(31), eights = n & ~size_t(7);
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(4)
#else
#pragma GCC ivdep
#endif
  for (size_t i = 0; i < wide; ++i)
    f(i);
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(1) unroll(disable)
#else
#pragma GCC ivdep
#endif
  for (size_t i = wide; i < eights; ++i)
    f(i);
#if defined(__clang__)
#pragma clang loop vectorize(disable) unroll(disable)
#endif
  for (size_t i = eights; i < n; ++i)
    f(i);
}

/// d[i] = f(x[i], ...), i < n; d and each x are equal or do not overlap. f16 is computed in f32, chunk by chunk.
template <class T, class F, class... X> inline void mapLine(F f, T *d, size_t n, const X *...x) {
  if constexpr (std::is_same_v<T, Half>) {
    auto chunk = [&](size_t at, size_t count) __attribute__((always_inline)) {
      float out[lineChunk];
      [&](const auto &...wide) __attribute__((always_inline)) {
        forBlocks(count, [&](size_t i) __attribute__((always_inline)) { out[i] = f(wide.data[i]...); });
      }(Widened<X>(x + at, count)...);
      narrow(d + at, out, count);
    };
    size_t at = 0;
    for (; at + lineChunk <= n; at += lineChunk)
      chunk(at, lineChunk);
    if (at < n)
      chunk(at, n - at);
  } else {
    forBlocks(n, [&](size_t i) __attribute__((always_inline)) { d[i] = store<T>(f(load(x[i])...)); });
  }
}

} // namespace pto_mlir::cmodel

#endif
