//===- ConvertTopToLinalg.cpp - top ops become linalg on tensors ----------===//

#include "Patterns.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

// Each output is written once, by a kernel: what is an input, a constant or another output (equal formulas are computed once)
// is copied.
void copySharedOutputs(func::FuncOp func) {
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  llvm::SmallDenseSet<Value> written;
  for (OpOperand &output : terminator->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(output.get().getType());
    Value root = output.get();
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(root.getDefiningOp()))
      root = root.getDefiningOp()->getOperand(0);
    Operation *maker = root.getDefiningOp();
    if (!type || (maker && !isa<top::WeightOp, arith::ConstantOp>(maker) && written.insert(root).second))
      continue;
    auto name = func.getResultAttrOfType<StringAttr>(output.getOperandNumber(), top::kNameAttr);
    Location loc = top::namedLoc(func.getContext(), name ? name.getValue() : "");
    Value init = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
    output.set(builder.create<linalg::CopyOp>(loc, output.get(), init).getResult(0));
  }
}

using Shapes = llvm::StringMap<SmallVector<int64_t>>;

/// The shapes of all tensors that a location names.
Shapes namedShapes(ModuleOp module) {
  Shapes shapes;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && !top::getTensorName(result).empty())
        shapes[top::getTensorName(result)] = llvm::to_vector(type.getShape());
  });
  return shapes;
}

/// Notes the shapes of tensors that their lowering computes in another one.
void noteShapes(ModuleOp module, const Shapes &before) {
  std::vector<std::pair<StringRef, ArrayRef<int64_t>>> changed;
  for (const auto &after : namedShapes(module))
    if (auto shape = before.find(after.getKey()); shape != before.end() && shape->second != after.second)
      changed.push_back({shape->getKey(), shape->second});
  top::addShapes(module, changed);
}

/// The number of rows of the smallest tensor of which `value` names rows, through reshapes and permutations; 0 when it names none.
int64_t indexBound(Value value) {
  int64_t bound = 0;
  for (OpOperand &use : value.getUses()) {
    int64_t rows = 0;
    if (auto gather = dyn_cast<top::GatherOp>(use.getOwner()); gather && use.get() == gather.getIndices())
      rows = cast<RankedTensorType>(gather.getData().getType()).getDimSize(gather.getAxis());
    else if (isa<top::ReshapeOp, top::PermuteOp>(use.getOwner()))
      rows = indexBound(use.getOwner()->getResult(0));
    if (rows != 0)
      bound = bound == 0 ? rows : std::min(bound, rows);
  }
  return bound;
}

/// Notes on inputs that are indices how far they may go.
void noteIndexBounds(func::FuncOp main) {
  Builder builder(main.getContext());
  for (BlockArgument argument : main.getArguments())
    if (getElementTypeOrSelf(argument.getType()).isInteger(32))
      if (int64_t bound = indexBound(argument))
        main.setArgAttr(argument.getArgNumber(), top::kIndexBoundAttr, builder.getI64IntegerAttr(bound));
}

struct ConvertTopToLinalg : impl::ConvertTopToLinalgBase<ConvertTopToLinalg> {
  LogicalResult initialize(MLIRContext *context) override {
    using namespace top_to_linalg;
    RewritePatternSet set(context);
    populateBinary(set);
    populateCast(set);
    populateLogic(set);
    populateMatMul(set);
    populateReduce(set);
    populateUnary(set);
    populateBatchNorm(set);
    populateConv(set);
    populateConvTranspose(set);
    populateLayerNorm(set);
    populatePool(set);
    populateSoftmax(set);
    populateConcat(set);
    populateExpand(set);
    populateGather(set);
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
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.getName() == "main" && func.getBody().hasOneBlock())
        noteIndexBounds(func);
    Shapes shapes = namedShapes(getOperation());
    if (failed(applyPartialConversion(getOperation(), target, patterns)))
      return signalPassFailure();
    noteShapes(getOperation(), shapes);
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.getName() == "main" && func.getBody().hasOneBlock())
        copySharedOutputs(func);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace

void registerTopToLinalgPasses() { registerConvertTopToLinalg(); }

} // namespace pto_mlir
