// The named pass pipelines.
#ifndef PTO_MLIR_PIPELINES_PIPELINES_H
#define PTO_MLIR_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "pto_mlir/Kernels/KernelTrial.h"
#include <functional>
#include <string>

namespace pto_mlir {

/// Options of `--top-to-commands`, as those of model_deploy with the same names.
struct DeployPipelineOptions : mlir::PassPipelineOptions<DeployPipelineOptions> {
  Option<std::string> quantize{*this, "quantize", llvm::cl::desc("F32, F16 or BF16"), llvm::cl::init("F32")};
  Option<int64_t> numCore{*this, "num-core", llvm::cl::desc("blocks of every launch; 0 = chosen at launch"),
                          llvm::cl::init(0)};
  Option<bool> keepAll{*this, "keep-all", llvm::cl::desc("keep every named tensor (debug)"), llvm::cl::init(false)};
  Option<bool> join{
      *this, "join",
      llvm::cl::desc("fuse a matrix product and the vector kernel that follows it, where estimated faster"),
      llvm::cl::init(true)};
  Option<bool> attentionKernels{*this, "attention-kernels",
                                llvm::cl::desc("one kernel for each attention that has one"), llvm::cl::init(true)};
  Option<bool> windows{*this, "windows",
                       llvm::cl::desc("also build each convolution without img2col, for emission as .pto"),
                       llvm::cl::init(false)};
  Option<bool> costRemarks{*this, "cost-remarks",
                           llvm::cl::desc("remarks about kernels that are slow beside their bytes, and many launches"),
                           llvm::cl::init(false)};
};

/// Options of `--onnx-to-top`, as those of model_transform with the same names.
struct TransformPipelineOptions : mlir::PassPipelineOptions<TransformPipelineOptions> {
  Option<bool> strictF64{*this, "strict-f64", llvm::cl::desc("compute in f64 whatever the model does"),
                         llvm::cl::init(false)};
  Option<bool> dropTaps{*this, "drop-taps",
                        llvm::cl::desc("leave out taps that meet nothing but padding; which ones depends on the size"),
                        llvm::cl::init(true)};
};

/// Imported top -> the top written by model_transform: shape inference, folding, fusion.
void buildTransformPipeline(mlir::OpPassManager &pm, const TransformPipelineOptions &options);

/// Called at the end of each stage with its name; may add passes (for example a dump).
using StageHook = std::function<void(mlir::OpPassManager &, llvm::StringRef stage)>;

/// top -> linalg -> kernels -> pto -> engine streams, and the host program. With a trial in `plans`, form-kernels
/// plans.
void buildDeployPipeline(mlir::OpPassManager &pm, const DeployPipelineOptions &options, const StageHook &stage = {},
                         const KernelPlans &plans = {});

/// The part of it from kernels on tensors to engine streams.
void buildKernelsPipeline(mlir::OpPassManager &pm, const DeployPipelineOptions &options, const StageHook &stage = {});

/// Options of `--pto-text-to-functions`, as those of pto-compile with the same names.
struct TextPipelineOptions : mlir::PassPipelineOptions<TextPipelineOptions> {
  Option<int64_t> level{*this, "level", llvm::cl::desc("1, 2: plan addresses; 3: addresses are in the text"),
                        llvm::cl::init(2)};
  Option<bool> forLibrary{
      *this, "for-library",
      llvm::cl::desc("for C++ of the ISA's library: scf instead of branches between blocks, barriers "
                     "between ops of one engine"),
      llvm::cl::init(false)};
};

/// Checks and lowers the constructs of hand-written `.pto` other than kernel ops: level, queues, events, memrefs,
/// layouts.
void buildTextPipeline(mlir::OpPassManager &pm, const TextPipelineOptions &options);

/// A `.pto` text -> one pto function per kernel and kind of core, as for models: `buildTextPipeline`, then structured
/// control flow, inlining, and joining, ordering and splitting of cores.
void buildTextToFunctionsPipeline(mlir::OpPassManager &pm, const TextPipelineOptions &options);

/// Options of `--pto-to-commands`.
struct CommandsPipelineOptions : mlir::PassPipelineOptions<CommandsPipelineOptions> {
  Option<bool> insertSync{*this, "insert-sync",
                          llvm::cl::desc("insert flags between the engines of functions that have none"),
                          llvm::cl::init(true)};
  Option<bool> assemblerLimits{
      *this, "assembler-limits",
      llvm::cl::desc("plan with the public assembler's memory sizes where the core's are exceeded"),
      llvm::cl::init(false)};
};

/// pto functions, of models or texts -> one function per engine: buffers, addresses, queues, flags, engine slices.
void buildCommandsPipeline(mlir::OpPassManager &pm, const CommandsPipelineOptions &options,
                           const StageHook &stage = {});

/// A `.pto` text -> the text with planned addresses (below level 3) and flags.
void buildPlannedTextPipeline(mlir::OpPassManager &pm, const TextPipelineOptions &options, bool insertSync);

/// Registers `--onnx-to-top`, `--top-to-commands`, `--pto-text-to-functions` and `--pto-to-commands`.
void registerPipelines();

} // namespace pto_mlir

#endif
