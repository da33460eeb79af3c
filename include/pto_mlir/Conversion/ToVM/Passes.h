// Conversions of upstream dialects to VM programs: convert-{arith,math,tensor,tosa,scf}-to-vm.
#ifndef PTO_MLIR_CONVERSION_TOVM_PASSES_H
#define PTO_MLIR_CONVERSION_TOVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Pass/Pass.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include <memory>

namespace pto_mlir {

#define GEN_PASS_DECL
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pto_mlir/Conversion/ToVM/Passes.h.inc"

} // namespace pto_mlir

#endif
