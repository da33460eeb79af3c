// top-decompose: what no lowering takes as it is becomes ops that one does.
#include "Decompose/Decompose.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#define DEBUG_TYPE "top-decompose"
#include "LogReplaced.h"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPDECOMPOSE
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {

struct Decompose : public impl::TopDecomposeBase<Decompose> {
  using TopDecomposeBase::TopDecomposeBase;

  void runOnOperation() override {
    LogReplaced log(DEBUG_TYPE);
    RewritePatternSet patterns(&getContext());
    if (dropTaps)
      decompose::populateDeadTaps(patterns);
    decompose::populateSpatial(patterns);
    decompose::populateLargeWindows(patterns, maxWindow);
    decompose::populateComputedFilters(patterns);
    decompose::populatePools(patterns, maxPoolPixels);
    decompose::populateLongPools(patterns);
    decompose::populateGathers(patterns);
    decompose::populateResizes(patterns);
    decompose::populateSlices(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns), log.config())))
      signalPassFailure();
  }
};

} // namespace
} // namespace pto_mlir::top
