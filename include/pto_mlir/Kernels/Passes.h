//===- Passes.h - linalg to kernels -----------------------------*- C++ -*-===//

#ifndef PTO_MLIR_KERNELS_PASSES_H
#define PTO_MLIR_KERNELS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Kernels/KernelTrial.h"

namespace pto_mlir {

#define GEN_PASS_DECL
#include "pto_mlir/Kernels/Passes.h.inc"

/// form-kernels that plans with trials.
std::unique_ptr<mlir::Pass> createFormKernels(const FormKernelsOptions &options, KernelPlans plans);

/// On a kernel that is never launched: the name of the kernel whose twin without img2col it is.
inline constexpr llvm::StringLiteral kWindowsOfAttr = "pto.windows_of";

/// Registers every pass of this folder under its command-line name.
void registerKernelPasses();

} // namespace pto_mlir

#endif // PTO_MLIR_KERNELS_PASSES_H
