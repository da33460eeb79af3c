//===- ConvertTopToLinalg.cpp - top ops become linalg on tensors ----------===//

#include "Patterns.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTTOPTOLINALG
#include "pto_mlir/Conversion/TopToLinalg/Passes.h.inc"

namespace {
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Conversion/TopToLinalg/Passes.h.inc"

struct ConvertTopToLinalg : impl::ConvertTopToLinalgBase<ConvertTopToLinalg> {
  LogicalResult initialize(MLIRContext *context) override {
    using namespace top_to_linalg;
    RewritePatternSet set(context);
    populateBinary(set);
    populateCast(set);
    populateMatMul(set);
    populateReduce(set);
    populateUnary(set);
    populateBatchNorm(set);
    populateConv(set);
    populateConvTranspose(set);
    populatePool(set);
    populateSoftmax(set);
    populateConcat(set);
    populatePad(set);
    populatePermute(set);
    populateReshape(set);
    populateResize(set);
    populateSlice(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<top::TopDialect>();
    target.addLegalOp<top::WeightOp, top::LaunchOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, patterns)))
      signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace

void registerTopToLinalgPasses() { registerConvertTopToLinalg(); }

} // namespace pto_mlir
