// Where the state of @main lives, and in which order launches use it.
#ifndef PTO_MLIR_LIB_CONVERSION_HOSTTOVM_STATEPLAN_H
#define PTO_MLIR_LIB_CONVERSION_HOSTTOVM_STATEPLAN_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir {

/// The value in whose memory `value` is: reshapes are looked through, and slices, of which @main has only views.
mlir::Value memoryOf(mlir::Value value);

/// The place of `value`, a part of what is at `place`.
top::PlaceAttr placeIn(top::PlaceAttr place, mlir::Value value);

/// Moves the launches that write a state in place behind those that read what was there, together with everything that
/// needs their results. Fails, with an error at the reader, where the reader needs what is written.
mlir::LogicalResult orderStateWrites(mlir::func::FuncOp main);

/// Places the states of @main, their new values and the position, and sets `vm.state` of @main. A
/// tensor that a run replaces keeps its place if no launch reads the old value with or after the one that writes the
/// new; else it gets a second one.
mlir::LogicalResult placeStates(mlir::func::FuncOp main, llvm::DenseMap<mlir::Value, top::PlaceAttr> &places);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_HOSTTOVM_STATEPLAN_H
