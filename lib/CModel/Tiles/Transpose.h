// Transposition in registers, in blocks of 8 x 8.
#ifndef PTO_MLIR_CMODEL_TRANSPOSE_H
#define PTO_MLIR_CMODEL_TRANSPOSE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Vectors wider than the target's are passed between inlined functions only, so their ABI does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace pto_mlir::cmodel {

typedef uint32_t Words8 __attribute__((vector_size(32)));
typedef uint16_t Halves8 __attribute__((vector_size(16)));

/// to[j * pitch + i] = r[i][j].
inline void transposeEight(uint32_t *to, size_t pitch, const Words8 (&r)[8]) {
  Words8 a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      b[i + 2 * j] = __builtin_shufflevector(a[i + j], a[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[i + 2 * j + 1] = __builtin_shufflevector(a[i + j], a[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int j = 0; j < 4; ++j) {
    Words8 low = __builtin_shufflevector(b[j], b[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    Words8 high = __builtin_shufflevector(b[j], b[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    std::memcpy(to + j * pitch, &low, sizeof low);
    std::memcpy(to + (j + 4) * pitch, &high, sizeof high);
  }
}

inline void transposeEight(uint16_t *to, size_t pitch, const Halves8 (&r)[8]) {
  Halves8 a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 2, 10, 3, 11);
    a[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      b[i + 2 * j] = __builtin_shufflevector(a[i + j], a[i + j + 2], 0, 1, 8, 9, 2, 3, 10, 11);
      b[i + 2 * j + 1] = __builtin_shufflevector(a[i + j], a[i + j + 2], 4, 5, 12, 13, 6, 7, 14, 15);
    }
  for (int j = 0; j < 4; ++j) {
    Halves8 low = __builtin_shufflevector(b[j], b[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    Halves8 high = __builtin_shufflevector(b[j], b[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    std::memcpy(to + 2 * j * pitch, &low, sizeof low);
    std::memcpy(to + (2 * j + 1) * pitch, &high, sizeof high);
  }
}

/// to[j * toPitch + i] = from[i * fromPitch + j] for i < rows, j < cols: 8 x 8 blocks in registers, the rest element by
/// element.
template <class T>
inline void transpose(T *to, size_t toPitch, const T *from, size_t fromPitch, uint32_t rows, uint32_t cols) {
  auto single = [&](uint32_t rowBegin, uint32_t rowEnd, uint32_t colBegin, uint32_t colEnd) {
    for (size_t j = colBegin; j < colEnd; ++j)
      for (size_t i = rowBegin; i < rowEnd; ++i)
        to[j * toPitch + i] = from[i * fromPitch + j];
  };
  if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    using Block = std::conditional_t<sizeof(T) == 4, Words8, Halves8>;
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    uint32_t wholeRows = rows / 8 * 8, wholeCols = cols / 8 * 8;
    for (uint32_t i = 0; i < wholeRows; i += 8)
      for (uint32_t j = 0; j < wholeCols; j += 8) {
        Block block[8];
        for (uint32_t k = 0; k < 8; ++k)
          std::memcpy(&block[k], from + size_t(i + k) * fromPitch + j, sizeof(Block));
        transposeEight(reinterpret_cast<Word *>(to + size_t(j) * toPitch + i), toPitch, block);
      }
    single(0, wholeRows, wholeCols, cols);
    single(wholeRows, rows, 0, cols);
  } else {
    constexpr uint32_t block = 16; // both sides of a block stay in the L1 cache
    for (uint32_t i = 0; i < rows; i += block)
      for (uint32_t j = 0; j < cols; j += block)
        single(i, i + block < rows ? i + block : rows, j, j + block < cols ? j + block : cols);
  }
}

} // namespace pto_mlir::cmodel

#endif
