//===- TripBounds.h - how often a loop runs ------------------------------*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_TRIPBOUNDS_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_TRIPBOUNDS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pto_mlir::pto {

struct TripBounds {
  int64_t least = 0, most = kMany;
  static constexpr int64_t kMany = int64_t(1) << 40; // or more, or unknown
};

/// The least and the most trips of one execution of `loop`, whichever core executes it, of however many blocks.
TripBounds getTripBounds(mlir::scf::ForOp loop);

} // namespace pto_mlir::pto

#endif
