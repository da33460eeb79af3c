#include "DeployNet.h"

#include "Diagnostics.h"
#include "DumpPass.h"
#include "EmitPTO.h"
#include "KernelTrials.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace pto_mlir {
namespace {

/// In the order in which they are taken.
enum class Plan { asFormed, tried, apart };

void fill(DeployPipelineOptions &pipeline, const DeployOptions &options, Plan plan) {
  pipeline.quantize = options.quantize;
  pipeline.numCore = options.numCore;
  pipeline.keepAll = options.debug;
  pipeline.costRemarks = options.costRemarks;
  pipeline.windows = !options.emitFolder.empty() && !options.emitExact;
  pipeline.join = plan != Plan::apart;
  pipeline.attentionKernels = plan != Plan::apart;
}

std::optional<BuiltModel> deployBy(Plan plan, ModuleOp module, const DeployOptions &options, RefusedTensors &refused,
                                   Errors &errors) {
  auto loaded = backend::Backend::instance().load(options.processor);
  if (!loaded.processor) {
    errors.push_back(loaded.error);
    return std::nullopt;
  }
  PassManager pm(module.getContext());
  DeployPipelineOptions pipeline;
  fill(pipeline, options, plan);
  EmitResult emitted;
  StageHook hook = [&, number = 0](OpPassManager &manager, StringRef stage) mutable {
    if (!options.dumpFolder.empty())
      manager.addPass(createDump(llvm::formatv("{0}/{1:02}-{2}.mlir", options.dumpFolder, number++, stage).str()));
    if (!options.emitFolder.empty() && stage == "pto")
      manager.addPass(createEmitPTO({options.emitFolder, options.processor, options.emitExact}, emitted));
    // For the dumps behind it (benchmarks/estimates.py).
    if (!options.dumpFolder.empty() && stage == "pto") {
      manager.addPass(createNoteSlices());
      manager.addPass(pto::createPTOEstimate({options.numCore}));
    }
  };
  KernelPlans plans;
  if (plan != Plan::asFormed) {
    plans.trial = kernelTrial(module.getContext(), *loaded.processor, pipeline);
    plans.refused = [&](Location loc, StringRef reason) {
      std::string name = top::getTensorName(loc).str();
      if (name.empty()) // of no op of the model
        return false;
      Refusal &refusal = refused[name];
      refusal.limit = reason.str();
      ++refusal.times;
      return false;
    };
  }
  buildDeployPipeline(pm, pipeline, hook, plans);
  std::optional<BuiltModel> built;
  if (succeeded(pm.run(module)))
    built = buildModel(module, options, errors);
  else if (errors.empty())
    errors.push_back("the compiler failed without a message");
  if (!built)
    return std::nullopt;
  built->summary.emitted = emitted.written;
  built->summary.notEmitted = std::move(emitted.left);
  built->summary.rewritten = std::move(emitted.rewritten);
  return built;
}

} // namespace

std::optional<BuiltModel> deployNet(ModuleOp module, const DeployOptions &options, DeployReport report) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (options.debug && main && main->hasAttr(top::kSymbolsAttr)) {
    report.errors.push_back(options.mlirFile +
                            ": a debug build keeps tensors of constant shapes; transform the model with one size "
                            "of each dimension (--dynamic name=8)");
    return std::nullopt;
  }
  // The target, read by the passes through pto::targetOf.
  module->setAttr(pto::kTargetArchAttr, StringAttr::get(module.getContext(), options.processor));
  Errors errors;
  for (Plan plan : {Plan::asFormed, Plan::tried, Plan::apart}) {
    errors.clear();
    std::vector<std::string> remarks;
    DiagnosticCollector collector(module.getContext(), errors, &remarks);
    OwningOpRef<ModuleOp> copy(module.clone());
    unsigned known = countRefusals(report.refused);
    if (auto built = deployBy(plan, *copy, options, report.refused, errors)) {
      report.remarks.insert(report.remarks.end(), remarks.begin(), remarks.end());
      return built;
    }
    if (countRefusals(report.refused) > known) // by the smallest kernels there are
      break;
  }
  report.errors.insert(report.errors.end(), errors.begin(), errors.end());
  return std::nullopt;
}

} // namespace pto_mlir
