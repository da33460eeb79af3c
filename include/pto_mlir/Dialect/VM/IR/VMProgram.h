// Ops of SSA programs of the vm dialect.
#ifndef PTO_MLIR_DIALECT_VM_IR_VMPROGRAM_H
#define PTO_MLIR_DIALECT_VM_IR_VMPROGRAM_H

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"

#define GET_OP_CLASSES
#include "pto_mlir/Dialect/VM/IR/VMProgramOps.h.inc"

namespace pto_mlir::vm {

/// Makes `registry` add these ops whenever it loads the vm dialect.
void registerProgramOps(mlir::DialectRegistry &registry);

} // namespace pto_mlir::vm

#endif
