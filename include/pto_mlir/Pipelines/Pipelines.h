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

/// top -> linalg -> kernels -> pto -> engine streams, and the host program. `stage` is called between stages with the
/// name of the stage that ends there; it may add passes (a dump).
using StageHook = std::function<void(mlir::OpPassManager &, llvm::StringRef stage)>;
void buildDeployPipeline(mlir::OpPassManager &pm, const DeployPipelineOptions &options, const StageHook &stage = {});

/// Registers both under `--onnx-to-top` and `--top-to-commands`.
void registerPipelines();

} // namespace pto_mlir

#endif
