#include "pto_mlir/Pipelines/Pipelines.h"

#include "mlir/Transforms/Passes.h"
#include "pto_mlir/Conversion/HostToVM/Passes.h"
#include "pto_mlir/Conversion/LinalgToPTO/Passes.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/Kernels/Attention.h"
#include "pto_mlir/Kernels/Passes.h"
#include "pto_mlir/Kernels/Templates.h"

using namespace mlir;

namespace pto_mlir {

void buildTransformPipeline(OpPassManager &pm, const TransformPipelineOptions &options) {
  pm.addPass(top::createTopInferShapes());
  // What weights alone decide is constant before anything asks whether a filter is.
  pm.addPass(top::createTopFold({options.strictF64}));
  top::TopDecomposeOptions decompose;
  decompose.dropTaps = options.dropTaps;
  pm.addPass(top::createTopDecompose(decompose));
  pm.addPass(top::createTopFold({options.strictF64}));
  pm.addPass(top::createTopFuse());
  pm.addPass(createCSEPass());
  pm.addPass(top::createTopLegalizeTypes(templates::refusalByAll));
}

void buildKernelsPipeline(OpPassManager &pm, const DeployPipelineOptions &options, const StageHook &stage) {
  // What is on pointers is done for the passes of vector kernels.
  pm.addPass(createBuildTemplateKernels({options.numCore}));
  pm.addPass(createSplitRecurrences({options.numCore}));
  pm.addPass(createTileVectorKernels({options.numCore}));
  if (stage)
    stage(pm, "tiled");
  pm.addPass(createBufferizeVectorKernels());
  pm.addPass(createConvertLinalgToPTO({options.numCore}));
  pm.addPass(createBuildAttentionKernels({options.numCore}));
  pm.addPass(createBuildRecurrentKernels({options.numCore}));
  // The split of K is independent of the number of cores, so that results are bit-identical.
  pm.addPass(createBuildCubeKernels({options.numCore, options.windows}));
  pm.addPass(pto::createPTOBindBlocks({options.numCore}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass()); // addresses, which each engine computes itself
  if (!options.keepAll)                            // which finds every tensor in a place of its own
    pm.addPass(createPlaceConcats());
  if (options.costRemarks) {
    pm.addPass(createNoteSlices());
    pm.addPass(createRemarkCosts({options.numCore}));
  }
  if (stage)
    stage(pm, "pto");
  buildCommandsPipeline(pm, {}, stage);
}

void buildDeployPipeline(OpPassManager &pm, const DeployPipelineOptions &options, const StageHook &stage,
                         const KernelPlans &plans) {
  auto endStage = [&](StringRef name) {
    if (stage)
      stage(pm, name);
  };
  pm.addPass(top::createTopLayout());
  pm.addPass(top::createTopStorageTypes({options.quantize}));
  pm.addPass(top::createTopSizedTransposes());
  // A debug build stores the scores and weights, too.
  bool attention = options.attentionKernels && !options.keepAll;
  if (attention)
    pm.addPass(top::createTopFuseAttention(
        [](top::AttentionOp op) { return attention::canBuild(op, pto::targetOf(op).name); }));
  if (!options.keepAll) // slices of one tensor take no launch only where tensors may lie inside of others
    pm.addPass(top::createTopMergeConvs());
  endStage("top");
  pm.addPass(createConvertTopToLinalg({/*attentionKernels=*/attention, /*stateWrites=*/true, /*templates=*/true}));
  endStage("linalg");
  pm.addPass(createFormKernels({options.keepAll}, plans));
  pm.addPass(createAssignSizes());
  endStage("kernels");
  // A twin without img2col stands for a convolution alone.
  if (options.join && !options.keepAll)
    pm.addPass(createJoinKernels({options.numCore, /*images=*/!options.windows}));
  buildKernelsPipeline(pm, options, stage);
  pm.addPass(createPlanGlobalMemory({options.keepAll}));
  pm.addPass(createConvertHostToVM({options.keepAll}));
  endStage("host");
}

void registerPipelines() {
  PassPipelineRegistration<TransformPipelineOptions>("onnx-to-top", "shapes, folding and fusion of an imported model",
                                                     buildTransformPipeline);
  PassPipelineRegistration<DeployPipelineOptions>(
      "top-to-commands", "top to engine functions and a host program",
      [](OpPassManager &pm, const DeployPipelineOptions &options) { buildDeployPipeline(pm, options); });
  PassPipelineRegistration<TextPipelineOptions>(
      "pto-text-to-functions", "a .pto text to one function per kernel and kind of core", buildTextToFunctionsPipeline);
  PassPipelineRegistration<CommandsPipelineOptions>(
      "pto-to-commands", "pto functions to engine functions",
      [](OpPassManager &pm, const CommandsPipelineOptions &options) { buildCommandsPipeline(pm, options); });
}

} // namespace pto_mlir
