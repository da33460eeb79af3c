// Registration of all dialects, interfaces and passes.
#ifndef PTO_MLIR_PIPELINES_REGISTRATION_H
#define PTO_MLIR_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace pto_mlir {

/// Registers all dialects used during lowering, with the interfaces required by tiling and bufferization.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers all passes (ours, and upstream's used by the pipelines) and the named pipelines.
void registerPasses();

} // namespace pto_mlir

#endif
