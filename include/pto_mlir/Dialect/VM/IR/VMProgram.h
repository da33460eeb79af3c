// Ops of VM programs on values.
#ifndef PTO_MLIR_DIALECT_VM_IR_VMPROGRAM_H
#define PTO_MLIR_DIALECT_VM_IR_VMPROGRAM_H

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMProgramOps.h.inc"

namespace pto_mlir::vm {

/// Whenever `registry` loads the vm dialect, it has these ops too.
void registerProgramOps(mlir::DialectRegistry &registry);

} // namespace pto_mlir::vm

#endif
