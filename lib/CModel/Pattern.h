// Which columns or rows a mask pattern picks.
#ifndef PTO_MLIR_CMODEL_PATTERN_H
#define PTO_MLIR_CMODEL_PATTERN_H

#include "pto_mlir/ISA/Operands.h"

namespace pto_mlir::cmodel {

inline bool picks(isa::MaskPattern pattern, uint32_t i) {
  switch (pattern) {
  case isa::MaskPattern::p0101:
    return i % 2 == 0;
  case isa::MaskPattern::p1010:
    return i % 2 == 1;
  case isa::MaskPattern::p1111:
    return true;
  default: // p0001, p0010, p0100, p1000
    return i % 4 == unsigned(pattern) - 2;
  }
}

/// How many of the first n.
inline uint32_t pickedOf(isa::MaskPattern pattern, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; ++i)
    count += picks(pattern, i);
  return count;
}

} // namespace pto_mlir::cmodel

#endif
