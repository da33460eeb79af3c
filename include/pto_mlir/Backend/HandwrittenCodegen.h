//===- HandwrittenCodegen.h - Codegen of ops that models never use --------===//

#ifndef PTO_MLIR_BACKEND_HANDWRITTENCODEGEN_H
#define PTO_MLIR_BACKEND_HANDWRITTENCODEGEN_H

namespace mlir {
class DialectRegistry;
}

namespace pto_mlir::backend {

/// Beside `registerCodegenInterfaces`: the ops of PTOExtraOps.td, and the rest of the pto dialect that has
/// instructions.
void registerHandwrittenCodegen(mlir::DialectRegistry &registry);

} // namespace pto_mlir::backend

#endif
