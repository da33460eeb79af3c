// The columns or rows that a mask pattern selects.
#ifndef PTO_MLIR_CMODEL_PATTERN_H
#define PTO_MLIR_CMODEL_PATTERN_H

#include "pto_mlir/ISA/Operands.h"

namespace pto_mlir::cmodel {

/// The first selected column or row, and the distance between selected ones.
struct Picked {
  uint32_t first, step;
};
/// The columns or rows selected by a pattern.
inline Picked pickedBy(isa::MaskPattern pattern) {
  static constexpr Picked picked[] = {{0, 2}, {1, 2}, {0, 4}, {1, 4}, {2, 4}, {3, 4}, {0, 1}};
  return picked[unsigned(pattern)];
}
inline bool picks(isa::MaskPattern pattern, uint32_t i) {
  auto [first, step] = pickedBy(pattern);
  return i % step == first;
}

/// The number selected among the first n.
inline uint32_t pickedOf(isa::MaskPattern pattern, uint32_t n) {
  auto [first, step] = pickedBy(pattern);
  return n > first ? (n - first + step - 1) / step : 0;
}

} // namespace pto_mlir::cmodel

#endif
