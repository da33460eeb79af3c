//===- Estimate.cpp - what kernels take, from their pto ops -----------------------===//

#include "pto_mlir/Dialect/PTO/Transforms/Estimate.h"

#include "EstimateWalk.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#define DEBUG_TYPE "pto-estimate"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::pto {
#define GEN_PASS_DEF_PTOESTIMATE
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h.inc"
} // namespace pto_mlir::pto

using namespace mlir;
using namespace pto_mlir::pto;

/// So many ops are walked through before a kernel counts as too long to estimate.
static constexpr int64_t kMostSteps = 1 << 24;

llvm::MapVector<StringAttr, SmallVector<func::FuncOp>> pto_mlir::pto::kernelParts(ModuleOp module) {
  llvm::MapVector<StringAttr, SmallVector<func::FuncOp>> kernels;
  for (auto func : module.getOps<func::FuncOp>())
    if (func->hasAttr(kKernelKindAttr) && !func.isExternal()) {
      auto partOf = func->getAttrOfType<StringAttr>(kPartOfAttr);
      kernels[partOf ? partOf : func.getSymNameAttr()].push_back(func);
    }
  return kernels;
}

/// A copy of the functions with addresses and flags, as they would get them; null where local memory is too small.
static OwningOpRef<ModuleOp> orderEngines(ArrayRef<func::FuncOp> parts) {
  func::FuncOp first = parts.front();
  MLIRContext *context = first.getContext();
  OwningOpRef<ModuleOp> module(ModuleOp::create(first.getLoc()));
  (*module)->setAttr(kTargetArchAttr, StringAttr::get(context, targetOf(first).name));
  for (func::FuncOp part : parts)
    module->push_back(part.clone());
  PassManager pm(context);
  pm.enableVerifier(false);
  buildOrderPipeline(pm, /*insertSync=*/true, /*assemblerLimits=*/false);
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); }); // who builds the kernel hears of it
  return succeeded(pm.run(*module)) ? std::move(module) : nullptr;
}

std::optional<double> pto_mlir::pto::estimateCycles(ArrayRef<func::FuncOp> parts, int64_t blocks) {
  OwningOpRef<ModuleOp> module = orderEngines(parts);
  SmallVector<std::unique_ptr<EstimatedFunction>> functions;
  for (func::FuncOp part : module ? llvm::to_vector(module->getOps<func::FuncOp>()) : llvm::to_vector(parts))
    functions.push_back(std::make_unique<EstimatedFunction>(part, /*ordered=*/bool(module)));
  pto_mlir::cost::Sketch sketch(targetOf(parts.front()).name);
  int64_t steps = kMostSteps;
  for (int64_t block = 0; block < blocks; ++block)
    for (bool cube : {true, false})
      for (auto &function : functions)
        for (int64_t subblock = 0; function->cube == cube && subblock < (cube ? 1 : 2); ++subblock) {
          sketch.beginCore(cube, static_cast<unsigned>(block), static_cast<unsigned>(subblock));
          if (!EstimateWalk(*function, sketch, block, blocks, subblock).run(steps))
            return std::nullopt;
        }
  return sketch.cycles();
}

namespace {
struct EstimatePass : public pto_mlir::pto::impl::PTOEstimateBase<EstimatePass> {
  using PTOEstimateBase::PTOEstimateBase;

  void runOnOperation() override {
    if (numCore <= 0) {
      getOperation().emitError() << "num-core must be positive, got " << numCore.getValue();
      return signalPassFailure();
    }
    Builder b(&getContext());
    for (auto &[name, parts] : kernelParts(getOperation())) {
      std::optional<double> cycles = estimateCycles(parts, numCore);
      PTO_DEBUG("@" << name.getValue() << ": " << (cycles ? *cycles : -1) << " cycles");
      for (func::FuncOp part : parts)
        if (cycles)
          part->setAttr(kEstimateAttr, b.getF64FloatAttr(*cycles));
    }
  }
};
} // namespace
