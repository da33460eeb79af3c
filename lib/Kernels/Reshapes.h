//===- Reshapes.h - values through ops that move nothing --------*- C++ -*-===//

#ifndef PTO_MLIR_LIB_KERNELS_RESHAPES_H
#define PTO_MLIR_LIB_KERNELS_RESHAPES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace pto_mlir {

/// False for null.
inline bool isReshape(mlir::Operation *op) {
  return mlir::isa_and_nonnull<mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp>(op);
}

/// The value that `value` is a reshape of: contiguous data is not moved.
inline mlir::Value throughReshapes(mlir::Value value) {
  while (isReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// The value that `value` is a part of, perhaps in another shape.
inline mlir::Value throughViews(mlir::Value value) {
  while (isReshape(value.getDefiningOp()) || value.getDefiningOp<mlir::tensor::ExtractSliceOp>())
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_KERNELS_RESHAPES_H
