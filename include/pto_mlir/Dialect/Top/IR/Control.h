// Types around control flow: what a region's arguments and an op's results have to be.
#ifndef PTO_MLIR_DIALECT_TOP_IR_CONTROL_H
#define PTO_MLIR_DIALECT_TOP_IR_CONTROL_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace pto_mlir::top {

/// Whether `op` is the program's, not a net's: top.if, top.loop, top.scan, and what asks for extents when it runs
/// (top.dim, top.assume, top.require, top.nonzero).
bool isControlFlow(mlir::Operation *op);

/// The type of one row: all dimensions but the first. Null for a scalar.
mlir::RankedTensorType rowType(mlir::Type type);

/// Result types of a control-flow op from its operands and what its regions yield. A carried tensor that leaves a body
/// with another type than it enters, branches of different element types or ranks, and wrong numbers of values are
/// errors, which `report` gets.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> inferControlTypes(mlir::Operation *op,
                                                                 llvm::function_ref<void(const llvm::Twine &)> report);

} // namespace pto_mlir::top

#endif // PTO_MLIR_DIALECT_TOP_IR_CONTROL_H
