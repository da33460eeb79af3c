// How much an instruction works on.
#ifndef PTO_MLIR_LIB_COST_EXTENT_H
#define PTO_MLIR_LIB_COST_EXTENT_H

#include "pto_mlir/ISA/Operands.h"
#include "pto_mlir/Support/MathExtras.h"

namespace pto_mlir::cost {

inline uint64_t rows(const isa::Tile &t) { return uint64_t(t.validRows.value); }
inline uint64_t cols(const isa::Tile &t) { return uint64_t(t.validCols.value); }
/// Bytes of `elements` of the tile's type; two elements of 4 bits are one byte.
inline uint64_t bytesOf(const isa::Tile &t, uint64_t elements) {
  return ceilDiv(elements * isa::elementBits(t.type), 8);
}
inline uint64_t payload(const isa::Tile &t) { return bytesOf(t, rows(t) * cols(t)); }

} // namespace pto_mlir::cost

#endif
