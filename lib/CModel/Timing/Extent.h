// How much an instruction works on.
#ifndef PTO_MLIR_CMODEL_TIMING_EXTENT_H
#define PTO_MLIR_CMODEL_TIMING_EXTENT_H

#include "pto_mlir/ISA/Operands.h"

#include <algorithm>

namespace pto_mlir::cmodel {

inline uint64_t rows(const isa::Tile &t) { return uint64_t(t.validRows.value); }
inline uint64_t cols(const isa::Tile &t) { return uint64_t(t.validCols.value); }
inline uint64_t elementBytes(const isa::Tile &t) { return std::max(1u, isa::elementBits(t.type) / 8); }
inline uint64_t payload(const isa::Tile &t) { return rows(t) * cols(t) * elementBytes(t); }
inline uint64_t up(uint64_t n, uint64_t to) { return (n + to - 1) / to; }

} // namespace pto_mlir::cmodel

#endif
