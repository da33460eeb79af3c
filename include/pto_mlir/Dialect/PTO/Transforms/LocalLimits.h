//===- LocalLimits.h - sizes of the local memories ---------------------*- C++ -*-===//
#ifndef PTO_MLIR_DIALECT_PTO_TRANSFORMS_LOCALLIMITS_H
#define PTO_MLIR_DIALECT_PTO_TRANSFORMS_LOCALLIMITS_H

#include "pto_mlir/Dialect/PTO/IR/Target.h"

#include <cstdint>

namespace pto_mlir::pto {

struct LocalLimit {
  int64_t bytes, alignment;
  const char *name; // "UB", "L1", ...
};

/// Beside the numbers of `loc`: scales of products, which the text calls `scaling` like the fixpipe's descriptors.
inline constexpr unsigned kLeftScales = 32, kRightScales = 33;

/// Bytes that tiles may use and their alignment, from the ISA's parameters. `addressSpace` is the number of a tile's
/// loc. In UB this ends where the instructions' own scratch begins.
LocalLimit getLocalLimit(const Target &arch, unsigned addressSpace);

/// What the public assembler plans with (pto-dialect 6.3): no scratch, and larger tables than a core has.
LocalLimit getAssemblerLimit(const Target &arch, unsigned addressSpace);

} // namespace pto_mlir::pto

#endif
