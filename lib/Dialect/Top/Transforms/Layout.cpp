//===- Layout.cpp - Channels-last layout of feature maps ------------------===//

#include "Layout/Phases.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
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
    for (bool columnsOuter : {false, true}) {
      RewritePatternSet push(context);
      layout::populatePushPermutes(push, {columnsOuter});
      layout::populateDepthPermutes(push, {columnsOuter});
      pushPatterns[columnsOuter] = FrozenRewritePatternSet(std::move(push));
    }
    RewritePatternSet reshape(context);
    layout::populateReshapePermutes(reshape);
    reshapePatterns = FrozenRewritePatternSet(std::move(reshape));
    return success();
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      PTO_DEBUG("@" << func.getName());
      layout::Order order = layout::orderFor(func);
      layout::convertFeatureMaps(func, order);
      SmallVector<StringRef> adopted = layout::adoptPermutes(func, order);
      // A permute needs one iteration per op that it passes.
      GreedyRewriteConfig config;
      config.maxIterations = GreedyRewriteConfig::kNoLimit;
      (void)applyPatternsAndFoldGreedily(func, pushPatterns[order.columnsOuter], config);
      (void)applyPatternsAndFoldGreedily(func, reshapePatterns, config);
      llvm::DenseSet<StringRef> names;
      func.walk([&](Operation *op) {
        op->removeAttr(layout::kOwnAttr);
        names.insert(getTensorName(op->getLoc()));
      });
      llvm::erase_if(adopted, [&](StringRef name) { return names.contains(name); });
      addAbsorbed(getOperation(), adopted);
    }
  }

  FrozenRewritePatternSet pushPatterns[2], reshapePatterns; ///< the first ones by Order::columnsOuter
};
} // namespace
} // namespace pto_mlir::top
