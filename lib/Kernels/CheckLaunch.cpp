#include "CheckLaunch.h"

#include "pto_mlir/Dialect/PTO/IR/PTO.h"

using namespace mlir;

namespace pto_mlir {

LogicalResult checkLaunch(ModuleOp module, int64_t numCores) {
  if (numCores < 0)
    return module.emitError("num-cores must not be negative, got ") << numCores;
  auto arch = module->getAttrOfType<StringAttr>(pto::kTargetArchAttr);
  if (arch && !pto::findTarget(arch.getValue()))
    return module.emitError("knows no architecture '") << arch.getValue() << "' (" << pto::targetNames() << ")";
  return success();
}

} // namespace pto_mlir
