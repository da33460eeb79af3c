//===- Distribute.h - distribute a kernel over the vector cores -----*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_DISTRIBUTE_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_DISTRIBUTE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir {

/// Spreads the trips of the loops marked `pto.distribute` over the vector cores: core c takes trips c, c + cores, ...
/// A marked loop inside a marked one becomes part of it where the outer one alone has too few trips for an even
/// split over `numBlocks` blocks (0: not known, one block is assumed for the choice).
/// All else that stores is done by the first core. Expects arith instead of affine ops. Loops whose end is known at run
/// time count as ending at `greatestRows`.
void distributeKernel(mlir::func::FuncOp func, int64_t numBlocks, std::optional<int64_t> greatestRows);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_DISTRIBUTE_H
