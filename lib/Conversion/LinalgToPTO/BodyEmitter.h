//===- BodyEmitter.h - tile instructions for one linalg op ------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_BODYEMITTER_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_BODYEMITTER_H

#include "LocalTiles.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace pto_mlir {

/// Emits the tile instructions that compute `op` (a linalg.generic or fill on local memrefs) before it. Every body op
/// becomes one instruction on tiles of the shape that its operands need: a row vector stays one row. Temporaries are
/// reused after their last read. Emits an error on a body op without an instruction.
mlir::LogicalResult emitBody(mlir::linalg::LinalgOp op, LocalTiles &tiles);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_BODYEMITTER_H
