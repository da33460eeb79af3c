//===- Slices.h - what a slice takes ------------------------------*- C++ -*-===//

#ifndef PTO_MLIR_DIALECT_TOP_IR_SLICES_H
#define PTO_MLIR_DIALECT_TOP_IR_SLICES_H

#include "pto_mlir/Dialect/Top/IR/Top.h"

namespace pto_mlir::top {

/// Whether the result is the input.
inline bool takesAll(SliceOp op) {
  return op.getInput().getType() == op.getType() && llvm::all_of(op.getSteps(), [](int64_t step) { return step == 1; });
}

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_SLICES_H
