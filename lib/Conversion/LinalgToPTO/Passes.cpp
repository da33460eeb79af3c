//===- Passes.cpp - registration of the conversions -----------------------===//

#include "pto_mlir/Conversion/LinalgToPTO/Passes.h"

namespace pto_mlir {
namespace {
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h.inc"
} // namespace

void registerVectorLoweringPasses() {
  registerBufferizeVectorKernels();
  registerConvertLinalgToPTO();
}
} // namespace pto_mlir
