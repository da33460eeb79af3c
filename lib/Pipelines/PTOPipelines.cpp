// The pto pipelines: from text to functions, from functions to commands.
#include "pto_mlir/Pipelines/Pipelines.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Transforms/Passes.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Frontend/PTO/Passes.h"

using namespace mlir;

namespace pto_mlir {

void buildTextPipeline(OpPassManager &pm, const TextPipelineOptions &options) {
  pm.addPass(pto::createPTOCheckLevel({options.level}));
  pm.addPass(pto::createPTOCheckQueues());
  pm.addPass(pto::createPTOLowerEvents());
  pm.addPass(pto::createPTOConvertMemRefs());
  pm.addPass(pto::createPTOInferLayout());
  pm.addPass(pto::createPTOSimplifyRegions());
}

void buildTextToFunctionsPipeline(OpPassManager &pm, const TextPipelineOptions &options) {
  buildTextPipeline(pm, options);
  pm.addPass(pto::createPTODropSigns());
  pm.addPass(createLiftControlFlowToSCFPass());
  pm.addPass(pto::createPTOJoinCores({/*addressed=*/options.level == 3}));
  pm.addPass(pto::createPTOHideHelpers());
  pm.addPass(createInlinerPass());
  pm.addPass(pto::createPTOSimplifyRegions());
  pm.addPass(pto::createPTOCheckControlFlow());
  pm.addPass(pto::createPTOBindScales());
  pm.addPass(createCanonicalizerPass());
  // The parts of a kernel must agree about the tiles that one core writes into the other's memory.
  pm.addPass(pto::createPTOPlanLocalMemory({/*assemblerLimits=*/true, /*sharedOnly=*/true}));
  pm.addPass(pto::createPTOOrderCores());
  pm.addPass(pto::createPTOSplitCores());
  pm.addPass(createCanonicalizerPass());
}

void buildCommandsPipeline(OpPassManager &pm, const CommandsPipelineOptions &options, const StageHook &stage) {
  pto::buildOrderPipeline(pm, options.insertSync, options.assemblerLimits);
  pm.addPass(pto::createPTOLowerCoreSync());
  if (stage)
    stage(pm, "pto-synced");
  pm.addPass(pto::createPTOSliceEngines());
  if (stage)
    stage(pm, "engines");
}

void buildPlannedTextPipeline(OpPassManager &pm, const TextPipelineOptions &options, bool insertSync) {
  buildTextPipeline(pm, options);
  if (options.forLibrary)
    pm.addPass(createLiftControlFlowToSCFPass());
  pm.addPass(pto::createPTOPlanLocalMemory({/*assemblerLimits=*/true, /*sharedOnly=*/false}));
  pm.addPass(pto::createPTOPlaceReserved());
  if (insertSync && options.forLibrary)
    pm.addPass(pto::createPTOInsertBarriers());
  if (insertSync)
    pm.addPass(pto::createPTOInsertSync());
  if (options.forLibrary)
    pm.addPass(pto::createPTOQueuesForLibrary());
}

} // namespace pto_mlir
