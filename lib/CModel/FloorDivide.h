#ifndef PTO_MLIR_CMODEL_FLOORDIVIDE_H
#define PTO_MLIR_CMODEL_FLOORDIVIDE_H

#include <cstdint>

namespace pto_mlir::cmodel {

/// a / b toward minus infinity, b != 0; the one quotient that does not fit (the least value by -1) wraps to itself.
inline int64_t floorDivide(int64_t a, int64_t b) {
  if (b == -1)
    return int64_t(-uint64_t(a));
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

} // namespace pto_mlir::cmodel

#endif
