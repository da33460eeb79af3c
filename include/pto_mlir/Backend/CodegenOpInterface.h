//===- CodegenOpInterface.h - How an op becomes commands ------------------===//

#ifndef PTO_MLIR_BACKEND_CODEGENOPINTERFACE_H
#define PTO_MLIR_BACKEND_CODEGENOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

namespace pto_mlir::backend {
class CodegenContext;
}

#include "pto_mlir/Backend/CodegenOpInterface.h.inc"

namespace mlir {
class DialectRegistry;
}

namespace pto_mlir::backend {
/// Attaches the interface to the ops of pto, arith, scf and ub that have an instruction.
void registerCodegenInterfaces(mlir::DialectRegistry &registry);
} // namespace pto_mlir::backend

#endif
