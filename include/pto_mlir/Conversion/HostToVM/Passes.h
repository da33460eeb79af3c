// Passes that lower @main on tensors to a host program: plan-global-memory, convert-host-to-vm.
#ifndef PTO_MLIR_CONVERSION_HOSTTOVM_PASSES_H
#define PTO_MLIR_CONVERSION_HOSTTOVM_PASSES_H

#include "mlir/Pass/Pass.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include <memory>

namespace pto_mlir {

#define GEN_PASS_DECL
#include "pto_mlir/Conversion/HostToVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pto_mlir/Conversion/HostToVM/Passes.h.inc"

} // namespace pto_mlir

#endif
