//===- FormKernels.cpp - from whole-net linalg to kernels -----------------===//

#include "FormKernels/MergeSizes.h"
#include "FormKernels/Normalize.h"
#include "FormKernels/Outline.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#define DEBUG_TYPE "form-kernels"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_FORMKERNELS
#include "pto_mlir/Kernels/Passes.h.inc"

namespace {
struct FormKernels : impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    if (!main.getBody().hasOneBlock()) {
      main.emitError("@main has more than one block; form-kernels takes one straight line of ops");
      return signalPassFailure();
    }
    if (failed(kernels::mergeSizes(main)))
      return signalPassFailure();
    kernels::normalize(main, keepAll);
    FailureOr<kernels::Clusters> clusters = kernels::formClusters(main.getBody().front(), keepAll);
    if (failed(clusters))
      return signalPassFailure();
    PTO_DEBUG("@main: " << clusters->all.size() << " clusters");
    kernels::outlineClusters(main, *clusters, keepAll);
  }
};
} // namespace
} // namespace pto_mlir
