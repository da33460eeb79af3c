//===- Rings.h - tiles between the cores of a block -------------*- C++ -*-===//
//
// A ring is a few slots of a block in global memory, which L2 holds. One kind
// of core fills them in turn and raises a semaphore for each; the other kind
// awaits it and reads.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_KERNELS_CUBE_RINGS_H
#define PTO_MLIR_LIB_KERNELS_CUBE_RINGS_H

#include "Emitter.h"

namespace pto_mlir::cube {

/// The slots of all blocks are one matrix, a kernel argument: those of block b begin in row b * slots * rows.
struct Ring {
  Matrix matrix;
  int64_t rows, slots;      ///< of a slot; of a block
  int32_t semaphore;        ///< says that a slot is full
  bool fromVectors = false; ///< who fills the slots
};

/// Raises semaphore `number` for the other kind of core once `pipe` has done what comes before.
void raise(Emitter &e, pto::Pipe pipe, int32_t number);
/// Waits for it; `fromVectors` says that each vector core of the block raises it.
void await(Emitter &e, pto::Pipe pipe, int32_t number, bool fromVectors);

/// The row of the matrix where the slot of tile `number` of `block` begins.
inline Ix slotRow(Emitter &e, const Ring &ring, Ix block, Ix number) {
  return e.mul(e.add(e.mul(block, ring.slots), e.rem(number, ring.slots)), ring.rows);
}
inline void raise(Emitter &e, pto::Pipe pipe, const Ring &ring) { raise(e, pipe, ring.semaphore); }
inline void await(Emitter &e, pto::Pipe pipe, const Ring &ring) { await(e, pipe, ring.semaphore, ring.fromVectors); }

} // namespace pto_mlir::cube

#endif // PTO_MLIR_LIB_KERNELS_CUBE_RINGS_H
