//===- Requantise.h - integer sums to a quantised type ----------*- C++ -*-===//
//
// The arithmetic of the fixpipe's quantising stores, in the body of a linalg op: made by convert-top-to-linalg,
// recognised by the epilogue of a contraction, compiled as it stands by the vector road.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_REQUANTISE_H
#define PTO_MLIR_KERNELS_REQUANTISE_H

#include "mlir/IR/Builders.h"

#include <optional>

namespace pto_mlir {

/// stored = round(min(max(f32(sum) * scale + zero, least), greatest)): product and sum in f32 with a rounding each, the
/// result to nearest, ties to even.
struct Requantisation {
  mlir::Value sum, scale; ///< scalars of a body: an integer, an f32
  int64_t zero = 0, least = -128, greatest = 127;
  mlir::Type to; ///< an integer type

  /// Emits the ops; returns the stored integer.
  mlir::Value emit(mlir::OpBuilder &b, mlir::Location loc) const;
  /// Reads what `emit` makes off the stored integer; empty for any other value.
  static std::optional<Requantisation> match(mlir::Value stored);
};

/// Whether the fixpipe's buffer holds this scale of a column as it is: of the 32 bits, it has the upper 19.
bool fitsColumnScale(float scale);

/// The fixpipe's descriptor: the scale in bits 0-31, the zero point in bits 37-45, bit 46 for a signed result.
uint64_t quantDescriptor(float scale, int64_t zero);

} // namespace pto_mlir

#endif // PTO_MLIR_KERNELS_REQUANTISE_H
