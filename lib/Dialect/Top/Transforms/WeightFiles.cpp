// The passes top-load-weights and top-save-weights.
#include "pto_mlir/Dialect/Top/Transforms/ModuleIO.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPLOADWEIGHTS
#define GEN_PASS_DEF_TOPSAVEWEIGHTS
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

struct LoadWeights : public impl::TopLoadWeightsBase<LoadWeights> {
  using TopLoadWeightsBase::TopLoadWeightsBase;
  void runOnOperation() override {
    std::string error;
    if (failed(loadWeights(getOperation(), file, error))) {
      getOperation().emitError(error);
      signalPassFailure();
    }
  }
};

struct SaveWeights : public impl::TopSaveWeightsBase<SaveWeights> {
  using TopSaveWeightsBase::TopSaveWeightsBase;
  void runOnOperation() override {
    std::string error;
    if (failed(saveWeights(getOperation(), file, error))) {
      getOperation().emitError(error);
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace pto_mlir::top
