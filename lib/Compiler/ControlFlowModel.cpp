#include "ControlFlowModel.h"

#include "HostProgram.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Conversion/ControlToVM/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/PModel/Assembler.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace pto_mlir {

std::optional<DeploySummary> deployControlFlow(ModuleOp module, const DeployOptions &options,
                                               const DeployNet &deployNet, Errors &errors) {
  DeploySummary sum;
  module.walk([&](top::HostOp host) {
    sum.hostOps.push_back(
        (top::getTensorName(host.getLoc()) + ": " + host.getKernel() + " on the host, " + host.getReason()).str());
  });
  PassManager pm(module.getContext());
  pm.addPass(createConvertControlToVM());
  if (failed(pm.run(module)))
    return std::nullopt;
  auto program = hostProgram(module, options.processor, errors);
  if (!program)
    return std::nullopt;
  pmodel::ModelAssembler assembler;
  bool isEmpty = true, isWhole = true;
  for (ModuleOp net : module.getOps<ModuleOp>()) {
    DeployOptions own = options;
    for (std::string *folder : {&own.dumpFolder, &own.emitFolder})
      if (!folder->empty()) {
        *folder += "/" + net.getSymName()->str();
        if (std::error_code error = llvm::sys::fs::create_directories(*folder)) {
          errors.push_back(*folder + ": " + error.message());
          return std::nullopt;
        }
      }
    auto built = deployNet(net, own);
    isWhole &= built.has_value(); // every net is tried: one report names all problems
    if (!isWhole)
      continue;
    // Free the net's IR, since there may be hundreds of nets.
    net.getBody()->clear();
    DeploySummary &summary = built->summary;
    sum.launches += summary.launches;
    sum.emitted += summary.emitted;
    for (auto list : {&DeploySummary::hostOps, &DeploySummary::absorbed, &DeploySummary::clipped,
                      &DeploySummary::notEmitted, &DeploySummary::rewritten, &DeploySummary::narrowed})
      for (std::string &line : summary.*list)
        if (!llvm::is_contained(sum.*list, line))
          (sum.*list).push_back(std::move(line));
    isEmpty = false;
    if (Status added = assembler.add({std::move(built->model), options.modelFile}, 0, 0); !added) {
      errors.push_back(added.error());
      return std::nullopt;
    }
  }
  if (!isWhole)
    return std::nullopt;
  Result<pmodel::WriteSummary> written = [&] {
    if (!isEmpty) {
      assembler.addProgram(std::move(*program));
      return assembler.write(options.modelFile);
    }
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
