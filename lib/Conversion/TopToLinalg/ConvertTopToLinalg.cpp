//===- ConvertTopToLinalg.cpp - lower top ops to linalg on tensors ----------===//

#include "Patterns.h"
#include "Quantised.h"
#include "pto_mlir/Conversion/TopToLinalg/Passes.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/Attention.h"
#include "pto_mlir/Kernels/Templates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Rewrite/PatternApplicator.h"

#define DEBUG_TYPE "convert-top-to-linalg"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTTOPTOLINALG
#include "pto_mlir/Conversion/TopToLinalg/Passes.h.inc"

namespace {
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Conversion/TopToLinalg/Passes.h.inc"

/// Whether `value`, which is no reshape, is an input, or a constant or what folding makes one of: slices of splats.
bool isGiven(Value value) {
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return matchPattern(slice.getSource(), m_Constant());
  return !value.getDefiningOp() || isa<top::WeightOp, arith::ConstantOp>(value.getDefiningOp());
}

// Every output must be written by a kernel exactly once, so copy outputs that are inputs, constants or other outputs
// (after CSE). New values of state come first: they stay where they are written.
void copySharedOutputs(func::FuncOp func) {
  Operation *terminator = func.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  llvm::SmallDenseSet<Value> written;
  SmallVector<OpOperand *> outputs;
  for (bool isState : {true, false})
    for (OpOperand &output : terminator->getOpOperands())
      if (top::stateOfResult(func, output.getOperandNumber()).has_value() == isState)
        outputs.push_back(&output);
  for (OpOperand *operand : outputs) {
    OpOperand &output = *operand;
    auto type = dyn_cast<RankedTensorType>(output.get().getType());
    Value root = output.get();
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(root.getDefiningOp()))
      root = root.getDefiningOp()->getOperand(0);
    if (!type || type.getNumElements() == 0 || (!isGiven(root) && written.insert(root).second))
      continue;
    auto name = func.getResultAttrOfType<StringAttr>(output.getOperandNumber(), top::kNameAttr);
    Location loc = top::namedLoc(func.getContext(), name ? name.getValue() : "");
    Value init = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
    output.set(builder.create<linalg::CopyOp>(loc, output.get(), init).getResult(0));
  }
}

using Shapes = llvm::StringMap<SmallVector<int64_t>>;

/// The shapes of all tensors named by locations.
Shapes namedShapes(ModuleOp module) {
  Shapes shapes;
  module.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && !top::getTensorName(result).empty())
        shapes[top::getTensorName(result)] = llvm::to_vector(type.getShape());
  });
  return shapes;
}

/// Records the original shapes of tensors whose lowering changed the shape.
void noteShapes(ModuleOp module, const Shapes &before) {
  std::vector<std::pair<StringRef, ArrayRef<int64_t>>> changed;
  for (const auto &after : namedShapes(module))
    if (auto shape = before.find(after.getKey()); shape != before.end() && shape->second != after.second)
      changed.push_back({shape->getKey(), shape->second});
  top::addShapes(module, changed);
}

/// The smallest extent indexed by `value` in a gather, through reshapes and permutations; 0 when it is not an index.
int64_t indexBound(Value value) {
  int64_t bound = 0;
  for (OpOperand &use : value.getUses()) {
    int64_t rows = 0;
    if (auto gather = dyn_cast<top::GatherOp>(use.getOwner()); gather && use.get() == gather.getIndices())
      rows = cast<RankedTensorType>(gather.getData().getType()).getDimSize(gather.getAxis());
    else if (auto elements = dyn_cast<top::GatherElementsOp>(use.getOwner());
             elements && use.get() == elements.getIndices())
      rows = cast<RankedTensorType>(elements.getData().getType()).getShape().back();
    else if (auto write = dyn_cast<top::StateWriteOp>(use.getOwner());
             write && use.get() == write.getPosition() && !write.getCircular())
      rows = cast<RankedTensorType>(write.getType()).getDimSize(write.getAxis()) -
             cast<RankedTensorType>(write.getUpdate().getType()).getDimSize(write.getAxis()) + 1;
    else if (isa<top::ReshapeOp, top::PermuteOp>(use.getOwner()))
      rows = indexBound(use.getOwner()->getResult(0));
    if (rows != 0)
      bound = bound == 0 ? rows : std::min(bound, rows);
  }
  return bound;
}

/// Records the bounds of index inputs.
void noteIndexBounds(func::FuncOp main) {
  Builder builder(main.getContext());
  for (BlockArgument argument : main.getArguments())
    if (getElementTypeOrSelf(argument.getType()).isInteger(32) && !top::isStateArgument(main, argument.getArgNumber()))
      if (int64_t bound = indexBound(argument)) {
        unsigned number = argument.getArgNumber();
        auto known = main.getArgAttrOfType<IntegerAttr>(number, top::kIndexBoundAttr); // of its arithmetic
        if (known && known.getInt() <= bound)
          continue;
        main.setArgAttr(number, top::kIndexBoundAttr, builder.getI64IntegerAttr(bound));
        main.removeArgAttr(number, top::kArithmeticBoundAttr);
      }
}

bool isToConvert(Operation *op) {
  return isa<top::TopDialect>(op->getDialect()) && !isa<top::WeightOp, top::LaunchOp>(op);
}

/// Rejects computation on unsigned integers and 64-bit floats, which no engine supports; integers may be moved.
LogicalResult checkElementTypes(ModuleOp module) {
  bool computable = true;
  module.walk([&](Operation *op) {
    if (!isToConvert(op))
      return;
    bool moves = isa<top::ReshapeOp, top::PermuteOp, top::ConcatOp, top::SliceOp, top::ExpandOp, top::GatherOp,
                     top::StateWriteOp>(op);
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type type : types) {
      Type element = getElementTypeOrSelf(type);
      if (!element.isF64() && (moves || !element.isUnsignedInteger()))
        continue;
      op->emitOpError("has elements of type ")
          << element << ", with which no engine computes; f32, f16, bf16, i32 and i16 work";
      computable = false;
      return;
    }
  });
  return success(computable);
}

/// Whether `op` is left to build-attention-kernels.
bool hasAttentionKernel(Operation *op) {
  auto attention = dyn_cast<top::AttentionOp>(op);
  std::string reason;
  if (!attention)
    return false;
  StringRef target = pto::targetOf(op).name;
  if (attention::canBuild(attention, target, &reason) && !attention::isFasterApart(attention, target, reason))
    return true;
  PTO_DEBUG("attention '" << top::getTensorName(attention.getResult()) << "' is decomposed: " << reason);
  return false;
}

/// Whether `op` is left to build-template-kernels; without a kernel it has no lowering at all, and `bad` is set.
bool hasTemplateKernel(Operation *op, bool &bad) {
  if (!templates::hasTemplate(op))
    return false;
  std::string reason = templates::refusal(op, pto::targetOf(op));
  if (!reason.empty()) {
    op->emitOpError("has no kernel: ") << reason;
    bad = true;
  }
  return true;
}

/// Applies `patterns` to all ops but those that `stays` names, continuing after failures, so that the user sees all
/// errors at once.
LogicalResult convertAll(ModuleOp module, const FrozenRewritePatternSet &patterns,
                         llvm::function_ref<bool(Operation *)> stays) {
  struct Pending : RewriterBase::Listener {
    explicit Pending(llvm::function_ref<bool(Operation *)> stays) : stays(stays) {}
    llvm::function_ref<bool(Operation *)> stays;
    std::vector<Operation *> ops;
    llvm::SmallDenseSet<Operation *> live;
    void add(Operation *op) {
      if (isToConvert(op) && !stays(op) && live.insert(op).second)
        ops.push_back(op);
    }
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { add(op); }
    void notifyOperationErased(Operation *op) override { live.erase(op); }
  } pending(stays);
  module.walk([&](Operation *op) { pending.add(op); });
  PatternApplicator applicator(patterns);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(module.getContext());
  rewriter.setListener(&pending);
  unsigned errors = 0, refused = 0;
  ScopedDiagnosticHandler counter(module.getContext(), [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // reported by the outer diagnostic handlers
  });
  while (!pending.ops.empty())
    for (Operation *op : std::exchange(pending.ops, {})) {
      if (!pending.live.contains(op))
        continue;
      unsigned before = errors;
      rewriter.setInsertionPoint(op);
      if (succeeded(applicator.matchAndRewrite(op, rewriter)))
        continue;
      pending.live.erase(op);
      ++refused;
      if (errors == before)
        op->emitOpError("has no lowering to linalg");
    }
  return success(refused == 0);
}

struct ConvertTopToLinalg : impl::ConvertTopToLinalgBase<ConvertTopToLinalg> {
  using ConvertTopToLinalgBase::ConvertTopToLinalgBase;

  LogicalResult initialize(MLIRContext *context) override {
    using namespace top_to_linalg;
    RewritePatternSet set(context);
    populateBinary(set);
    populateCast(set);
    populateNarrowFloats(set);
    populateLogic(set);
    populateMatMul(set);
    populatePower(set);
    populateReduce(set);
    populateUnary(set);
    populateTrigonometry(set);
    populateAttention(set);
    populateBatchNorm(set);
    populateConv(set);
    populateConvTranspose(set);
    populateLayerNorm(set);
    populatePool(set);
    populateRecurrent(set);
    populateSoftmax(set);
    populateConcat(set);
    populateExpand(set);
    populateGather(set);
    populatePad(set);
    populatePermute(set);
    populateReshape(set);
    populateResize(set);
    populateSelect(set);
    populateSlice(set);
    populateStateWrite(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.getName() == "main" && func.getBody().hasOneBlock())
        noteIndexBounds(func);
    bool bad = false;
    for (auto func : getOperation().getOps<func::FuncOp>())
      bad |= !func.isExternal() && failed(top_to_linalg::lowerQuantised(func));
    if (bad)
      return signalPassFailure();
    Shapes shapes = namedShapes(getOperation());
    PTO_DEBUG(shapes.size() << " named tensors");
    auto stays = [&](Operation *op) {
      return (attentionKernels && hasAttentionKernel(op)) || (stateWrites && isa<top::StateWriteOp>(op)) ||
             (templates && isa<top::RecurrentOp>(op)) || (templates && hasTemplateKernel(op, bad));
    };
    if (failed(checkElementTypes(getOperation())) || failed(convertAll(getOperation(), patterns, stays)) || bad)
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
