//===- Distribute.h - distribute a kernel over the vector cores -----*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_DISTRIBUTE_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_DISTRIBUTE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir {

/// Distributes the iterations of loops marked `pto.distribute` cyclically over the vector cores: core c executes
/// iterations c, c + cores, ... Nested marked loops are coalesced where the outer one alone has too few iterations for
/// an even split over `numBlocks` blocks of two vector cores (0: unknown, one block is assumed). Other stores are
/// executed by the first core only. Affine ops must have been lowered to arith.
void distributeKernel(mlir::func::FuncOp func, int64_t numBlocks);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_DISTRIBUTE_H
