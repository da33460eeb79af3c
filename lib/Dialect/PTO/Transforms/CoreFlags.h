//===- CoreFlags.h - flags between the two kinds of cores of a block ----*- C++ -*-===//
#ifndef PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_COREFLAGS_H
#define PTO_MLIR_LIB_DIALECT_PTO_TRANSFORMS_COREFLAGS_H

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

namespace pto_mlir::pto {

inline constexpr int32_t kBlockMode = 2; // of cross_set without lane flags: the other kind of core of this block

/// Raises flag `id` for the other kind of core of the block once `pipe` is done with what comes before: with lane flags
/// the cube core tells each vector core. `mode` is that of the block's flags. Returns the first of the ops.
CrossSetOp raiseFlag(mlir::OpBuilder &b, mlir::Location loc, Pipe pipe, mlir::Value id, const Target &arch, bool isCube,
                     int32_t mode = kBlockMode);
/// Waits for flag `id` of the other kind of core: engine S does, with lane flags `pipe`, the cube core for each vector
/// core. Returns the last of the ops.
CrossWaitOp waitFlag(mlir::OpBuilder &b, mlir::Location loc, Pipe pipe, mlir::Value id, const Target &arch,
                     bool isCube);

} // namespace pto_mlir::pto

#endif
