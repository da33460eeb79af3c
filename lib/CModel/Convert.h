// Conversion between element types (tcvt).
#ifndef PTO_MLIR_CMODEL_CONVERT_H
#define PTO_MLIR_CMODEL_CONVERT_H

#include "MapLine.h"
#include "pto_mlir/ISA/Insns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pto_mlir::cmodel {

/// x rounded to an integral value.
inline double roundTo(double x, isa::RoundMode mode) {
  switch (mode) {
  case isa::RoundMode::rint:
    return std::nearbyint(x);
  case isa::RoundMode::round:
    return std::round(x);
  case isa::RoundMode::floor:
    return std::floor(x);
  case isa::RoundMode::ceil:
    return std::ceil(x);
  case isa::RoundMode::odd: { // jam: what is cut makes the last digit odd
    double t = std::trunc(x);
    return t == x || std::fmod(t, 2.0) != 0.0 ? t : t + std::copysign(1.0, x);
  }
  case isa::RoundMode::none:
  case isa::RoundMode::trunc:
    break;
  }
  return std::trunc(x);
}

/// Largest finite magnitude of a float type.
template <class T> constexpr float largest() {
  return std::is_same_v<T, Half> ? 65504.0f : std::is_same_v<T, BFloat> ? 0x1.fep127f : std::numeric_limits<float>::max();
}

/// dst[i] = src[i]. Float to integer rounds by `mode`; saturating it clamps (NaN: largest value), else the result wraps to the width
/// of D, and what does not fit 32 (64) bits becomes the least value. Float to float rounds to nearest even; f32 to f32 rounds to an
/// integral value unless `mode` is none. Saturating to a float clamps to its finite range.
template <class D, class S> void convertLine(D *dst, const S *src, size_t n, isa::RoundMode mode, bool saturate) {
  constexpr bool toFloat = std::is_same_v<Compute<D>, float>, fromFloat = std::is_same_v<Compute<S>, float>;
  if constexpr (toFloat && fromFloat) {
    bool integral = std::is_same_v<D, float> && std::is_same_v<S, float> && mode != isa::RoundMode::none;
    if (!integral && !saturate) {
      if constexpr (std::is_same_v<D, Half> && std::is_same_v<S, float>)
        narrow(dst, src, n);
      else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, Half>)
        widen(dst, src, n);
      else
        forBlocks(n, [&](size_t i) { dst[i] = store<D>(load(src[i])); });
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      float x = load(src[i]);
      if (saturate)
        x = x < -largest<D>() ? -largest<D>() : x <= largest<D>() ? x : largest<D>(); // NaN: the upper bound
      dst[i] = store<D>(integral ? float(roundTo(x, mode)) : x);
    }
  } else if constexpr (toFloat) {
    forBlocks(n, [&](size_t i) { dst[i] = store<D>(float(src[i])); });
  } else if constexpr (fromFloat) {
    using Wide = std::conditional_t<sizeof(D) == 8, int64_t, int32_t>;
    constexpr double low = double(std::numeric_limits<D>::min()), high = double(std::numeric_limits<D>::max());
    constexpr double wideLimit = sizeof(Wide) == 8 ? 0x1p63 : 0x1p31;
    for (size_t i = 0; i < n; ++i) {
      double x = roundTo(load(src[i]), mode);
      if (saturate)
        dst[i] = x >= high || x != x ? std::numeric_limits<D>::max() : x <= low ? std::numeric_limits<D>::min() : D(x);
      else
        dst[i] = D(x >= -wideLimit && x < wideLimit ? Wide(x) : std::numeric_limits<Wide>::min());
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
