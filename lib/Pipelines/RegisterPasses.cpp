// Registers all passes. Separate from the dialects, since only pto-opt refers to passes by name.
#include "pto_mlir/Pipelines/Registration.h"

#include "mlir/Dialect/Affine/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"
#include "pto_mlir/Backend/Passes.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/Conversion/HostToVM/Passes.h"
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h"
#include "pto_mlir/Conversion/ToVM/Passes.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/Frontend/PTO/Passes.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Pipelines/Pipelines.h"

using namespace mlir;

namespace pto_mlir {

void registerPasses() {
  mlir::registerTransformsPasses();
  affine::registerAffinePasses();
  arith::registerArithPasses();
  bufferization::registerBufferizationPasses();
  mlir::registerLinalgPasses();
  math::registerMathPasses();
  memref::registerMemRefPasses();
  mlir::registerSCFPasses();

  pto::registerPTOPasses();
  pto::registerPTOFrontendPasses();
  top::registerTopPasses();
  registerControlToVMPasses();
  registerHostToVMPasses();
  registerToVMPasses();
  backend::registerBackendPasses();
  registerTopToLinalgPasses();
  registerVectorLoweringPasses();
  registerKernelPasses();
  registerPipelines();
}

} // namespace pto_mlir
