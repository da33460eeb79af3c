// Type inference and classification of control-flow ops.
#ifndef PTO_MLIR_DIALECT_TOP_IR_CONTROL_H
#define PTO_MLIR_DIALECT_TOP_IR_CONTROL_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace pto_mlir::top {

/// Whether `op` belongs to the host program rather than to a net: top.if, top.loop, top.scan, and ops on run-time
/// extents (top.dim, top.assume, top.require, top.nonzero), and top.host.
bool isControlFlow(mlir::Operation *op);

/// The type of one row of a tensor: all dimensions but the first. Null for a scalar.
mlir::RankedTensorType rowType(mlir::Type type);

/// The result types of a control-flow op, from its operands and the yields of its regions. Errors go to `report`: a
/// carried tensor that leaves a body with another type than it enters, branches of different element types or ranks, a
/// wrong number of values.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> inferControlTypes(mlir::Operation *op,
                                                                 llvm::function_ref<void(const llvm::Twine &)> report);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_CONTROL_H
