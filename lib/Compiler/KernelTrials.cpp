#include "KernelTrials.h"

#include "AddCode.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"

using namespace mlir;

namespace pto_mlir {

KernelTrial kernelTrial(MLIRContext *context, const backend::Processor &processor,
                        const DeployPipelineOptions &options) {
  auto passes = std::make_shared<PassManager>(context);
  DeployPipelineOptions own;
  own.numCore = options.numCore;
  buildKernelsPipeline(*passes, own);
  auto blocks = static_cast<unsigned>(int64_t(options.numCore));
  return [context, passes, &processor, blocks](func::FuncOp kernel) {
    OwningOpRef<ModuleOp> module(ModuleOp::create(kernel.getLoc()));
    (*module)->setAttr(pto::kTargetArchAttr, StringAttr::get(context, processor.name));
    module->push_back(kernel.clone());
    std::string reason;
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
        reason = diagnostic.str();
      return success();
    });
    bool isBuilt = succeeded(passes->run(*module)) &&
                   generateKernels(*module, processor, blocks, {/*text=*/false, /*sources=*/false});
    return isBuilt ? std::string() : reason.empty() ? "cannot be built" : reason;
  };
}

} // namespace pto_mlir
