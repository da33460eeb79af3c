// Packed masks: bit j of row r is bit j mod W of mask element (r, j / W), least significant first. On a little-endian
// host that is bit j mod 8 of byte j / 8 of the row, for every W.
#ifndef PTO_MLIR_CMODEL_MASK_H
#define PTO_MLIR_CMODEL_MASK_H

#include "Tiles/Map.h"

#include <cstring>

namespace pto_mlir::cmodel {

/// Checks that the mask tile has at least `rows` rows of `cols` bits; faults otherwise.
bool maskFits(Core &core, const LocalTile &mask, uint32_t rows, uint32_t cols);

/// The first byte of row r of a mask.
inline uint8_t *maskRow(const LocalTile &mask, uint32_t r) { return mask.data + size_t(r) * mask.cols * mask.bytes; }

// Vectors wider than the target's are passed between inlined functions only, so their ABI does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"
typedef float Floats8 __attribute__((vector_size(32)));
typedef int32_t Ints8 __attribute__((vector_size(32)));
template <class T> using Eight = std::conditional_t<std::is_same_v<T, int32_t>, Ints8, Floats8>;

/// n <= 8 elements, widened; the rest is zero.
template <class T> __attribute__((always_inline)) inline Eight<T> loadEight(const T *p, uint32_t n = 8) {
#if defined(__F16C__)
  if constexpr (std::is_same_v<T, Half>)
    if (n == 8) {
      __m256 wide = widenEight(p);
      Floats8 v;
      std::memcpy(&v, &wide, sizeof v);
      return v;
    }
#endif
  Compute<T> wide[8] = {};
  if constexpr (std::is_same_v<T, Half>)
    widen(wide, p, n);
  else
    std::memcpy(wide, p, n * sizeof(T));
  Eight<T> v;
  std::memcpy(&v, wide, sizeof v);
  return v;
}
template <class T> inline Eight<T> splatEight(Compute<T> value) {
  Eight<T> v;
  for (int i = 0; i < 8; ++i)
    v[i] = value;
  return v;
}

/// Bit i is set if lane i is true (-1).
inline unsigned laneBits(Ints8 lanes) {
#if defined(__AVX__)
  __m256 bits;
  std::memcpy(&bits, &lanes, sizeof bits);
  return unsigned(_mm256_movemask_ps(bits));
#else
  unsigned bits = 0;
  for (int i = 0; i < 8; ++i)
    bits |= unsigned(lanes[i] & 1) << i;
  return bits;
#endif
}

/// Packs the bits of one row; `test(first column, columns)` compares up to 8 of them. The rest of the last mask element
/// becomes 0.
template <class F> inline void packRow(uint8_t *bits, uint32_t cols, uint32_t elementBytes, F test) {
  uint32_t whole = cols / 8, bytes = (cols + 8 * elementBytes - 1) / (8 * elementBytes) * elementBytes;
  for (uint32_t b = 0; b < whole; ++b)
    bits[b] = uint8_t(laneBits(test(8 * b, 8)));
  for (uint32_t b = whole; b < bytes; ++b)
    bits[b] = uint8_t(8 * b < cols ? laneBits(test(8 * b, cols - 8 * b)) & ((1u << (cols - 8 * b)) - 1) : 0u);
}

/// Packs a whole mask bit by bit; `test(r, c)` compares one element.
template <class F> void packSlowly(const LocalTile &mask, uint32_t rows, uint32_t cols, F test) {
  uint32_t bytes = (cols + 8 * mask.bytes - 1) / (8 * mask.bytes) * mask.bytes;
  for (uint32_t r = 0; r < rows; ++r) {
    std::memset(maskRow(mask, r), 0, bytes);
    for (uint32_t c = 0; c < cols; ++c)
      maskRow(mask, r)[c / 8] |= uint8_t(unsigned(test(r, c)) << c % 8);
  }
}

/// d[c] = bit c ? x[c] : *other(c). At least 32 bytes must be readable at other(c).
template <class T, class F> inline void selectRow(T *d, const uint8_t *bits, const T *x, uint32_t cols, F other) {
  uint32_t c = 0;
  if constexpr (sizeof(T) == 4 || sizeof(T) == 2) {
    // Broadcast a word of bits; each lane tests one of them.
    typedef T Block __attribute__((vector_size(32)));
    constexpr uint32_t lanes = 32 / sizeof(T), wordBits = 8 * sizeof(T);
    for (; c + wordBits <= cols; c += wordBits) {
      T word;
      std::memcpy(&word, bits + c / 8, sizeof word);
      Block words;
      for (uint32_t i = 0; i < lanes; ++i)
        words[i] = word;
      for (uint32_t g = 0; g < wordBits; g += lanes) {
        Block lane, selected, rest;
        for (uint32_t i = 0; i < lanes; ++i)
          lane[i] = T(T(1) << (g + i));
        const T *unselected = other(c + g);
        std::memcpy(&selected, x + c + g, sizeof selected);
        std::memcpy(&rest, unselected, sizeof rest);
        selected = (words & lane) == lane ? selected : rest;
        std::memcpy(d + c + g, &selected, sizeof selected);
      }
    }
  }
  for (; c < cols; ++c)
    d[c] = bits[c / 8] >> (c % 8) & 1 ? x[c] : *other(c);
}

/// Calls f(relation) with the function object of a comparison.
template <class F> void withRelation(isa::CompareMode mode, F &&f) {
  switch (mode) {
  case isa::CompareMode::eq:
    return f([](auto a, auto b) { return a == b; });
  case isa::CompareMode::ne:
    return f([](auto a, auto b) { return a != b; });
  case isa::CompareMode::lt:
    return f([](auto a, auto b) { return a < b; });
  case isa::CompareMode::le:
    return f([](auto a, auto b) { return a <= b; });
  case isa::CompareMode::gt:
    return f([](auto a, auto b) { return a > b; });
  case isa::CompareMode::ge:
    return f([](auto a, auto b) { return a >= b; });
  }
}

} // namespace pto_mlir::cmodel

#endif
