// The passes top-load-weights and top-save-weights.
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPLOADWEIGHTS
#define GEN_PASS_DEF_TOPSAVEWEIGHTS
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

#define DEBUG_TYPE "top-load-weights"
struct LoadWeights : public impl::TopLoadWeightsBase<LoadWeights> {
  using TopLoadWeightsBase::TopLoadWeightsBase;
  void runOnOperation() override {
    PTO_DEBUG("reads " << file.getValue());
    std::string error;
    if (failed(loadWeights(getOperation(), file, error))) {
      getOperation().emitError(error);
      signalPassFailure();
    }
  }
};
#undef DEBUG_TYPE

#define DEBUG_TYPE "top-save-weights"
struct SaveWeights : public impl::TopSaveWeightsBase<SaveWeights> {
  using TopSaveWeightsBase::TopSaveWeightsBase;
  void runOnOperation() override {
    PTO_DEBUG("writes " << file.getValue());
    std::string error;
    if (failed(saveWeights(getOperation(), file, error))) {
      getOperation().emitError(error);
      signalPassFailure();
    }
  }
};
#undef DEBUG_TYPE

} // namespace
} // namespace pto_mlir::top
