// Conversion between element types (tcvt).
#ifndef PTO_MLIR_CMODEL_CONVERT_H
#define PTO_MLIR_CMODEL_CONVERT_H

#include "Tiles/MapLine.h"
#include "pto_mlir/ISA/Insns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace pto_mlir::cmodel {

/// Calls f with the function that rounds an f32 to an integral value; the result is exact in f32.
template <class F> void withRounding(isa::RoundMode mode, F f) {
  switch (mode) {
  case isa::RoundMode::rint:
    return f([](float x) { return std::nearbyint(x); });
  case isa::RoundMode::round: // ties away from 0
    return f([](float x) {
      float t = std::trunc(x);
      return std::fabs(x - t) >= 0.5f ? t + std::copysign(1.0f, x) : t;
    });
  case isa::RoundMode::floor:
    return f([](float x) { return std::floor(x); });
  case isa::RoundMode::ceil:
    return f([](float x) { return std::ceil(x); });
  case isa::RoundMode::odd: // round to odd: an inexact result gets an odd last digit
    return f([](float x) {
      float t = std::trunc(x), half = t * 0.5f;
      return t == x || std::trunc(half) != half ? t : t + std::copysign(1.0f, x);
    });
  case isa::RoundMode::none:
  case isa::RoundMode::trunc:
    break;
  }
  f([](float x) { return std::trunc(x); });
}

/// x rounded to an integral value.
inline float roundTo(float x, isa::RoundMode mode) {
  withRounding(mode, [&](auto round) { x = round(x); });
  return x;
}

/// x as an element of T (f32, f16, bf16), rounded once by `mode`. Overflow gives infinity, except when rounding toward
/// 0, which gives the largest finite value.
template <class T> T roundInto(double x, isa::RoundMode mode) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  T nearest = store<T>(float(x));
  if (x != x || double(load(nearest)) == x)
    return nearest;
  // Sign-magnitude order: the neighbours of a float are the neighbours of its bit pattern. `low` is the largest
  // magnitude not above that of x.
  Bits sign = std::bit_cast<Bits>(nearest) & Bits(Bits(1) << (8 * sizeof(T) - 1)),
       low = std::bit_cast<Bits>(nearest) ^ sign;
  auto magnitude = [](Bits bits) { return double(load(std::bit_cast<T>(bits))); };
  double size = std::fabs(x);
  while (magnitude(low) > size)
    --low;
  while (magnitude(Bits(low + 1)) <= size)
    ++low;
  bool away = false;
  switch (mode) {
  case isa::RoundMode::none:
  case isa::RoundMode::rint:
  case isa::RoundMode::round: {
    double next = magnitude(Bits(low + 1));
    if (std::isinf(next)) // rounds as if the exponent range were unbounded
      next = 2 * magnitude(low) - magnitude(Bits(low - 1));
    double middle = (magnitude(low) + next) / 2;
    away = size > middle || (size == middle && (mode == isa::RoundMode::round || low % 2));
    break;
  }
  case isa::RoundMode::floor:
    away = x < 0;
    break;
  case isa::RoundMode::ceil:
    away = x > 0;
    break;
  case isa::RoundMode::trunc:
    break;
  case isa::RoundMode::odd:
    away = low % 2 == 0;
    break;
  }
  return std::bit_cast<T>(Bits(sign | Bits(low + away)));
}

/// An integer as a double, rounded to odd where it has too many digits, so that rounding the double to a narrower type
/// rounds the integer once.
inline double jammed(int64_t value) {
  auto d = double(value);
  if (d == 0x1p63 || int64_t(d) != value) {
    auto bits = std::bit_cast<uint64_t>(d);
    bool longer = d == 0x1p63 || (value < 0 ? int64_t(d) < value : int64_t(d) > value);
    d = std::bit_cast<double>((bits - longer) | 1);
  }
  return d;
}

/// Largest finite magnitude of a float type.
template <class T> constexpr float largest() {
  return std::is_same_v<T, Half>     ? 65504.0f
         : std::is_same_v<T, BFloat> ? 0x1.fep127f
                                     : std::numeric_limits<float>::max();
}

/// An integral f32 as an integer of at most 32 bits. Saturating: clamped, NaN becomes the largest value. Otherwise:
/// wraps to the width of D, and a value outside int32 becomes INT32_MIN before that.
template <class D, bool saturate> D toInteger(float x) {
  constexpr float limit = 0x1p31f;
  if constexpr (saturate) {
    constexpr float low = float(std::numeric_limits<D>::min()),
                    high = sizeof(D) == 4 ? limit : float(std::numeric_limits<D>::max());
    auto inside = D(int32_t(x > low && x < high ? x : 0.0f));
    D below = x <= low ? std::numeric_limits<D>::min() : inside;
    return x < high ? below : std::numeric_limits<D>::max();
  } else {
    bool fits = x >= -limit && x < limit;
    auto inside = int32_t(fits ? x : 0.0f);
    return D(fits ? inside : std::numeric_limits<int32_t>::min());
  }
}

/// dst[i] = src[i], i < n. Float to integer: rounded by `mode`, then toInteger. Integer to float and float to float:
/// rounded by `mode`, where none and rint mean nearest even; f32 to f32 rounds to an integral value unless `mode` is
/// none. Saturating to a float clamps to its finite range first; NaN becomes the largest value.
template <class D, class S> void convertLine(D *dst, const S *src, size_t n, isa::RoundMode mode, bool saturate) {
  constexpr bool toFloat = std::is_same_v<Compute<D>, float>, fromFloat = std::is_same_v<Compute<S>, float>;
  bool directed = mode != isa::RoundMode::none && mode != isa::RoundMode::rint;
  if constexpr (toFloat && fromFloat) {
    constexpr bool narrows = !std::is_same_v<D, float> && !std::is_same_v<D, S>;
    bool integral = std::is_same_v<D, float> && std::is_same_v<S, float> && mode != isa::RoundMode::none;
    if (!integral && !saturate && !(narrows && directed)) {
      if constexpr (std::is_same_v<D, Half> && std::is_same_v<S, float>)
        narrow(dst, src, n);
      else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, Half>)
        widen(dst, src, n);
      else
        forBlocks(n, [&](size_t i) { dst[i] = store<D>(load(src[i])); });
      return;
    }
    for (size_t at = 0; at < n; at += lineChunk) {
      size_t count = std::min(lineChunk, n - at);
      Widened<S> wide(src + at, count);
      float x[lineChunk];
      constexpr float most = largest<D>();
      forBlocks(count, [&](size_t i) {
        float v = load(wide.data[i]), clamped = v < -most ? -most : v <= most ? v : most;
        x[i] = saturate ? clamped : v;
      });
      if (integral)
        withRounding(mode, [&](auto round) { forBlocks(count, [&](size_t i) { x[i] = round(x[i]); }); });
      if (std::is_same_v<D, Half> && !directed)
        narrow(reinterpret_cast<Half *>(dst + at), x, count);
      else
        for (size_t i = 0; i < count; ++i)
          dst[at + i] = narrows && directed ? roundInto<D>(x[i], mode) : store<D>(x[i]);
    }
  } else if constexpr (toFloat) {
    if (directed)
      for (size_t i = 0; i < n; ++i)
        dst[i] = roundInto<D>(jammed(int64_t(src[i])), mode);
    else
      forBlocks(n, [&](size_t i) { dst[i] = store<D>(float(src[i])); });
  } else if constexpr (fromFloat) {
    for (size_t at = 0; at < n; at += lineChunk) {
      size_t count = std::min(lineChunk, n - at);
      Widened<S> wide(src + at, count);
      float x[lineChunk];
      forBlocks(count, [&](size_t i) { x[i] = load(wide.data[i]); });
      withRounding(mode, [&](auto round) { forBlocks(count, [&](size_t i) { x[i] = round(x[i]); }); });
      D *to = dst + at;
      if constexpr (sizeof(D) == 8) {
        for (size_t i = 0; i < count; ++i) {
          bool fits = x[i] >= -0x1p63f && x[i] < 0x1p63f, highest = saturate && !(x[i] < 0);
          to[i] = fits ? D(x[i]) : highest ? std::numeric_limits<D>::max() : std::numeric_limits<D>::min();
        }
      } else if (saturate) {
        forBlocks(count, [&](size_t i) { to[i] = toInteger<D, true>(x[i]); });
      } else {
        forBlocks(count, [&](size_t i) { to[i] = toInteger<D, false>(x[i]); });
      }
    }
  } else {
    for (size_t i = 0; i < n; ++i) {
      auto x = int64_t(src[i]);
      if (saturate)
        x = std::clamp<int64_t>(x, std::numeric_limits<D>::min(), std::numeric_limits<D>::max());
      dst[i] = D(x);
    }
  }
}

} // namespace pto_mlir::cmodel

#endif
