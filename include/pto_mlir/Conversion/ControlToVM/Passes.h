// convert-control-to-vm: splits top control flow into nets and a program.
#ifndef PTO_MLIR_CONVERSION_CONTROLTOVM_PASSES_H
#define PTO_MLIR_CONVERSION_CONTROLTOVM_PASSES_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include <memory>

namespace pto_mlir {

#define GEN_PASS_DECL
#include "pto_mlir/Conversion/ControlToVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pto_mlir/Conversion/ControlToVM/Passes.h.inc"

/// Whether `@main` of a top module has control flow.
bool hasControlFlow(mlir::ModuleOp module);
/// The first op for which it has; null without one.
mlir::Operation *firstControlFlow(mlir::ModuleOp module);

} // namespace pto_mlir

#endif
