// How many devices a program may have.
#ifndef PTO_MLIR_SUPPORT_RANKS_H
#define PTO_MLIR_SUPPORT_RANKS_H

#include <cstdint>

namespace pto_mlir {

/// The most devices of a program; ranks are below it.
inline constexpr uint32_t kMostRanks = 64;

} // namespace pto_mlir

#endif
