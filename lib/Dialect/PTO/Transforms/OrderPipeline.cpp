//===- OrderPipeline.cpp - the passes that give tiles addresses and engines flags ---===//
#include "pto_mlir/Dialect/PTO/Transforms/Passes.h"

void pto_mlir::pto::buildOrderPipeline(mlir::OpPassManager &pm, bool insertSync, bool assemblerLimits) {
  if (insertSync)
    pm.addPass(createPTOMultiBuffer());
  pm.addPass(createPTOPlanLocalMemory({assemblerLimits, /*sharedOnly=*/false}));
  pm.addPass(createPTOPlaceReserved());
  pm.addPass(createPTOLowerPipes());
  if (insertSync)
    pm.addPass(createPTOInsertSync());
  pm.addPass(createPTOLowerBarriers());
}
