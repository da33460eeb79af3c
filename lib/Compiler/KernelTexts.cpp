#include "KernelTexts.h"

#include "mlir/Pass/PassManager.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/PTO/IR/ReadText.h"
#include "pto_mlir/Pipelines/Pipelines.h"
#include "pto_mlir/Pipelines/Registration.h"

using namespace mlir;

namespace pto_mlir {

DialectRegistry registryFor(const pto::Target &target) {
  DialectRegistry registry;
  registerDialects(registry);
  pto::setParseFor(registry, target);
  return registry;
}

bool lowerToFunctions(ModuleOp module) {
  PassManager pm(module.getContext());
  TextPipelineOptions text;
  buildTextToFunctionsPipeline(pm, text);
  return succeeded(pm.run(module));
}

StringRef kernelOf(func::FuncOp func) {
  auto of = func->getAttrOfType<StringAttr>(pto::kPartOfAttr);
  return of ? of.getValue() : func.getSymName();
}

std::string printKernel(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> alone = module.clone();
  for (auto func : llvm::make_early_inc_range(alone->getOps<func::FuncOp>()))
    if (kernelOf(func) != name)
      func.erase();
    else
      func->removeAttr(kOpAttr), func->removeAttr(kOpTypesAttr);
  std::string text;
  llvm::raw_string_ostream stream(text);
  alone->print(stream);
  return text;
}

} // namespace pto_mlir
