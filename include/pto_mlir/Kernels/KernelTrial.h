//===- KernelTrial.h - asking whether a kernel can be built -----*- C++ -*-===//

#ifndef PTO_MLIR_KERNELS_KERNELTRIAL_H
#define PTO_MLIR_KERNELS_KERNELTRIAL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <string>

namespace pto_mlir {

/// Why a kernel on tensors, a detached function, cannot be built, and which limit it hits; "" if it can. Changes
/// nothing.
using KernelTrial = std::function<std::string(mlir::func::FuncOp kernel)>;

/// Called with each tensor of the model that no kernel can compute, at `loc`, and with the limit. Where it returns
/// false, form-kernels reports an error.
using KernelRefused = std::function<bool(mlir::Location loc, llvm::StringRef reason)>;

/// How form-kernels plans: with `trial`, a cluster that it refuses is split until its parts can be built.
struct KernelPlans {
  KernelTrial trial = {};
  KernelRefused refused = {};
};

} // namespace pto_mlir

#endif // PTO_MLIR_KERNELS_KERNELTRIAL_H
