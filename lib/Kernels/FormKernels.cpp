//===- FormKernels.cpp - from whole-net linalg to kernels -----------------===//

#include "FormKernels/MergeSizes.h"
#include "FormKernels/Normalize.h"
#include "FormKernels/Outline.h"
#include "FormKernels/PlanClusters.h"
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
  FormKernels(const FormKernelsOptions &options, KernelPlans plans)
      : FormKernelsBase(options), plans(std::move(plans)) {}

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
    if (plans.trial && failed(kernels::planClusters(*clusters, keepAll, plans)))
      return signalPassFailure();
    PTO_DEBUG("@main: " << clusters->all.size() << " clusters");
    kernels::outlineClusters(main, *clusters, keepAll);
  }

  KernelPlans plans;
};
} // namespace

std::unique_ptr<Pass> createFormKernels(const FormKernelsOptions &options, KernelPlans plans) {
  return std::make_unique<FormKernels>(options, std::move(plans));
}
} // namespace pto_mlir
