#include "SizedKernels.h"

#include "ControlFlowModel.h"
#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/PTO/IR/PTOTraits.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"
#include "pto_mlir/Kernels/Attention.h"
#include "pto_mlir/Kernels/Passes.h"

using namespace mlir;

namespace pto_mlir {

SizedKernels::SizedKernels(ModuleOp module) : laidOut(module.clone()) {
  (*laidOut)->setAttr(pto::kTargetArchAttr, StringAttr::get(module.getContext(), pto::defaultTarget().name));
  PassManager legal(module.getContext());
  legal.addPass(top::createTopLegalizeTypes());
  if ((first = run(legal, *laidOut, "its types have no instructions")))
    return;
  if (hasControlFlow(*laidOut)) {
    first = "an op of it runs on the host";
    return;
  }
  PassManager layout(module.getContext());
  layout.addPass(top::createTopLayout());
  first = run(layout, *laidOut, "its tensors have no layout");
}

/// The first error of the passes, by the name of its tensor; `otherwise` where they fail without one.
std::optional<std::string> SizedKernels::run(PassManager &pm, ModuleOp on, StringRef otherwise) {
  std::string problem;
  ScopedDiagnosticHandler handler(on.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && problem.empty()) {
      StringRef name = top::getTensorName(diagnostic.getLocation());
      problem = (name.empty() ? "an op" : "'" + name.str() + "'") + " " + diagnostic.str();
    }
    return success();
  });
  if (succeeded(pm.run(on)))
    return std::nullopt;
  return problem.empty() ? otherwise.str() : problem;
}

std::optional<std::string> SizedKernels::problem(StringRef storage, bool attentions) {
  if (first)
    return first;
  OwningOpRef<ModuleOp> copy = laidOut->clone();
  if (attentions)
    copy->lookupSymbol("main")->setAttr(top::kSizedAttentionsAttr, UnitAttr::get(copy->getContext()));
  PassManager pm(copy->getContext());
  pm.addPass(top::createTopStorageTypes({storage.str(), /*typesOnly=*/true}));
  pm.addPass(top::createTopSizedTransposes());
  pm.addPass(
      top::createTopFuseAttention([](top::AttentionOp op) { return attention::canBuild(op, pto::targetOf(op).name); }));
  pm.addPass(createConvertTopToLinalg({/*attentionKernels=*/true, /*stateWrites=*/false, /*templates=*/true}));
  pm.addPass(createFormKernels());
  pm.addPass(createAssignSizes());
  return run(pm, *copy, "there are no kernels for it");
}

} // namespace pto_mlir
