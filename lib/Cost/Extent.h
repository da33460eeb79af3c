// How much an instruction works on.
#ifndef PTO_MLIR_LIB_COST_EXTENT_H
#define PTO_MLIR_LIB_COST_EXTENT_H

#include "pto_mlir/ISA/Operands.h"

#include <algorithm>

namespace pto_mlir::cost {

inline uint64_t rows(const isa::Tile &t) { return uint64_t(t.validRows.value); }
inline uint64_t cols(const isa::Tile &t) { return uint64_t(t.validCols.value); }
inline uint64_t elementBytes(const isa::Tile &t) { return std::max(1u, isa::elementBits(t.type) / 8); }
inline uint64_t payload(const isa::Tile &t) { return rows(t) * cols(t) * elementBytes(t); }
inline uint64_t ceilDiv(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

} // namespace pto_mlir::cost

#endif
