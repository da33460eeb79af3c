// Every dialect, interface and pass that the tools know, listed once.
#ifndef PTO_MLIR_PIPELINES_REGISTRATION_H
#define PTO_MLIR_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace pto_mlir {

/// The dialects that a module may hold on its way down, with the interfaces that tiling and bufferization need.
void registerDialects(mlir::DialectRegistry &registry);

/// Every pass by its name (upstream's that the pipelines use, and ours) and the named pipelines.
void registerPasses();

} // namespace pto_mlir

#endif
