#include "ControlFlowModel.h"

#include "HostProgram.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/PModel/Assembler.h"
#include "pto_mlir/Pipelines/ModelBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

using namespace mlir;

namespace pto_mlir {

std::optional<DeploySummary> deployControlFlow(ModuleOp module, const DeployOptions &options, const DeployNet &deployNet, Errors &errors) {
  PassManager pm(module.getContext());
  pm.addPass(createConvertControlToVM());
  if (failed(pm.run(module)))
    return std::nullopt;
  auto program = hostProgram(module, options.processor, errors);
  if (!program)
    return std::nullopt;
  DeploySummary sum;
  std::vector<std::string> parts;
  std::vector<std::unique_ptr<llvm::FileRemover>> removers;
  for (ModuleOp net : module.getOps<ModuleOp>()) {
    SmallString<128> part;
    if (auto problem = llvm::sys::fs::createUniqueFile(options.modelFile + ".%%%%%%", part)) {
      errors.push_back(options.modelFile + ": cannot write beside it: " + problem.message());
      return std::nullopt;
    }
    parts.push_back(part.str().str());
    removers.push_back(std::make_unique<llvm::FileRemover>(parts.back()));
    DeployOptions own = options;
    own.modelFile = parts.back();
    for (std::string *folder : {&own.dumpFolder, &own.emitFolder})
      if (!folder->empty()) {
        *folder += "/" + net.getSymName()->str();
        (void)llvm::sys::fs::create_directories(*folder);
      }
    auto summary = deployNet(net, own);
    if (!summary)
      return std::nullopt;
    sum.launches += summary->launches;
    sum.emitted += summary->emitted;
    for (auto list : {&DeploySummary::hostOps, &DeploySummary::absorbed, &DeploySummary::clipped, &DeploySummary::notEmitted, &DeploySummary::narrowed})
      for (std::string &line : (*summary).*list)
        if (!llvm::is_contained(sum.*list, line))
          (sum.*list).push_back(std::move(line));
  }
  Result<pmodel::WriteSummary> written = [&] {
    if (!parts.empty())
      return pmodel::combineModels(parts, options.modelFile, std::move(program));
    // It has nothing for the engines to compute.
    pmodel::ModelDesc model;
    model.producer = kProducer;
    model.processor = options.processor;
    model.numCore = options.numCore;
    model.programs.push_back(std::move(*program));
    return pmodel::writeModel(model, options.modelFile);
  }();
  return withSizes(std::move(sum), written, errors);
}

} // namespace pto_mlir
