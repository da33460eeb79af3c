// The named pipelines: only addPass lines.
#ifndef PTO_MLIR_PIPELINES_PIPELINES_H
#define PTO_MLIR_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <functional>
#include <string>

namespace pto_mlir {

/// `--top-to-commands` options; model_deploy's of the same names.
struct DeployPipelineOptions : mlir::PassPipelineOptions<DeployPipelineOptions> {
  Option<std::string> quantize{*this, "quantize", llvm::cl::desc("F32, F16 or BF16"), llvm::cl::init("F32")};
  Option<int64_t> numCore{*this, "num-core", llvm::cl::desc("blocks of every launch; 0 = decided at launch"),
                          llvm::cl::init(0)};
  Option<bool> keepAll{*this, "keep-all", llvm::cl::desc("keep every named tensor (debug)"), llvm::cl::init(false)};
  Option<bool> join{*this, "join",
                    llvm::cl::desc("make one kernel of a matrix product and what follows it, where that is better"),
                    llvm::cl::init(true)};
  Option<bool> windows{*this, "windows",
                       llvm::cl::desc("build convolutions a second time, without img2col, to be written as .pto"),
                       llvm::cl::init(false)};
};

/// Imported top -> top that model_transform writes: shapes, folding, fusion.
void buildTransformPipeline(mlir::OpPassManager &pm);

/// Called between stages with the name of the stage that ends there; it may add passes (a dump).
using StageHook = std::function<void(mlir::OpPassManager &, llvm::StringRef stage)>;

/// top -> linalg -> kernels -> pto -> engine streams, and the host program.
void buildDeployPipeline(mlir::OpPassManager &pm, const DeployPipelineOptions &options, const StageHook &stage = {});

/// `--pto-text-to-functions` options; pto-compile's of the same names.
struct TextPipelineOptions : mlir::PassPipelineOptions<TextPipelineOptions> {
  Option<int64_t> level{*this, "level", llvm::cl::desc("1, 2: addresses are planned; 3: the text has them"),
                        llvm::cl::init(2)};
};

/// What a `.pto` text says beside the ops of kernels, checked and lowered: level, queues, events, memrefs, layouts.
void buildTextPipeline(mlir::OpPassManager &pm, const TextPipelineOptions &options);

/// A `.pto` text -> one pto function per kernel and kind of core, as models make them: `buildTextPipeline`, control
/// flow made structured, calls inlined, cores joined, ordered and split.
void buildTextToFunctionsPipeline(mlir::OpPassManager &pm, const TextPipelineOptions &options);

/// `--pto-to-commands` options.
struct CommandsPipelineOptions : mlir::PassPipelineOptions<CommandsPipelineOptions> {
  Option<bool> insertSync{*this, "insert-sync", llvm::cl::desc("order the engines of functions without flags"),
                          llvm::cl::init(true)};
  Option<bool> assemblerLimits{
      *this, "assembler-limits",
      llvm::cl::desc("plan with the public assembler's sizes of the memories where a core's do not suffice"),
      llvm::cl::init(false)};
};

/// pto functions, of models and of texts alike -> one function per engine: buffers, addresses, queues, flags, slices.
void buildCommandsPipeline(mlir::OpPassManager &pm, const CommandsPipelineOptions &options,
                           const StageHook &stage = {});

/// A `.pto` text -> the planned text: addresses (below level 3) and flags.
void buildPlannedTextPipeline(mlir::OpPassManager &pm, const TextPipelineOptions &options, bool insertSync);

/// Registers `--onnx-to-top`, `--top-to-commands`, `--pto-text-to-functions` and `--pto-to-commands`.
void registerPipelines();

} // namespace pto_mlir

#endif
