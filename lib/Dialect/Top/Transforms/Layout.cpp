//===- Layout.cpp - Channels-last layout of feature maps ------------------===//

#include "Layout/Phases.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/Top/Transforms/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "top-layout"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir::top {
#define GEN_PASS_DEF_TOPLAYOUT
#include "pto_mlir/Dialect/Top/Transforms/Passes.h.inc"

namespace {
struct TopLayout : impl::TopLayoutBase<TopLayout> {
  using TopLayoutBase::TopLayoutBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet push(context), reshape(context);
    layout::populatePushPermutes(push);
    layout::populateReshapePermutes(reshape);
    pushPatterns = FrozenRewritePatternSet(std::move(push));
    reshapePatterns = FrozenRewritePatternSet(std::move(reshape));
    return success();
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      PTO_DEBUG("@" << func.getName());
      layout::convertFeatureMaps(func);
      // A permute needs one iteration per op that it passes.
      GreedyRewriteConfig config;
      config.maxIterations = GreedyRewriteConfig::kNoLimit;
      (void)applyPatternsAndFoldGreedily(func, pushPatterns, config);
      (void)applyPatternsAndFoldGreedily(func, reshapePatterns, config);
      func.walk([](PermuteOp permute) { permute->removeAttr(layout::kOwnAttr); });
    }
  }

  FrozenRewritePatternSet pushPatterns, reshapePatterns;
};
} // namespace
} // namespace pto_mlir::top
