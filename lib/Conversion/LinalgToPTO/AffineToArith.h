//===- AffineToArith.h - lower affine ops to scalar code --------------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_AFFINETOARITH_H
#define PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_AFFINETOARITH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pto_mlir {

/// Replaces affine.{apply,min,max} by arith ops supported by the scalar unit. Upstream's lowering is not used because
/// it expands a floor division into compares, selects and a truncating division.
void lowerAffineOps(mlir::func::FuncOp func);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_CONVERSION_LINALGTOPTO_AFFINETOARITH_H
