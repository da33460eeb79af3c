// Packed masks: bit j of row r is bit j mod W of mask element (r, j / W), least significant first. On a little-endian machine that is
// bit j mod 8 of byte j / 8 of the row, whatever W.
#ifndef PTO_MLIR_CMODEL_MASK_H
#define PTO_MLIR_CMODEL_MASK_H

#include "Map.h"

namespace pto_mlir::cmodel {

/// The mask tile has a row for each of `rows` and room for `cols` bits in each? Faults otherwise.
bool maskFits(Core &core, const LocalTile &mask, uint32_t rows, uint32_t cols);

inline uint8_t *maskRow(const LocalTile &mask, uint32_t r) { return mask.data + size_t(r) * mask.cols * mask.bytes; }

/// Bits of one row from `test(c)`; the rest of the last mask element becomes 0.
template <class F> void packRow(uint8_t *bits, uint32_t cols, uint32_t elementBytes, F test) {
  uint32_t bytes = (cols + 8 * elementBytes - 1) / (8 * elementBytes) * elementBytes;
  for (uint32_t b = 0; b < bytes; ++b) {
    unsigned value = 0;
    for (uint32_t i = 0; i < 8 && 8 * b + i < cols; ++i)
      value |= unsigned(test(8 * b + i)) << i;
    bits[b] = uint8_t(value);
  }
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
