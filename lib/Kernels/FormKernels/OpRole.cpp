//===- OpRole.cpp - what an op of @main may become in a kernel ------------===//

#include "OpRole.h"

#include "../Reshapes.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Dialect/Top/IR/Slices.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Kernels/GroupedConv.h"
#include "pto_mlir/Kernels/Templates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace pto_mlir::kernels {

bool readsAllLoops(AffineMap map) { return map.isIdentity(); }

// Only reads loops, each at most once, in increasing order: identity,
// broadcast, or scalar operand.
static bool readsInOrder(AffineMap map) {
  int64_t last = -1;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || static_cast<int64_t>(dim.getPosition()) <= last)
      return false;
    last = dim.getPosition();
  }
  return true;
}

static bool isContraction(Operation *op) {
  return isa<linalg::Conv2DNhwcHwcfOp, linalg::MatmulOp, linalg::MatmulTransposeBOp, linalg::BatchMatmulOp,
             linalg::BatchMatmulTransposeBOp>(op) ||
         matchGroupedConv(op);
}

static bool isWindow(Operation *op) {
  return isa<linalg::DepthwiseConv2DNhwcHwcOp, linalg::PoolingNhwcMaxOp, linalg::PoolingNhwcSumOp>(op);
}

static bool onlyUsedAsInit(Operation *op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return user && !isa<linalg::FillOp, linalg::BroadcastOp>(use.getOwner()) && user.isDpsInit(&use);
  });
}

// The cube's windows pad height and width, with 0 alone.
static bool onlyPadsWindows(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  bool zero = value && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()));
  for (auto [dim, low, high] : llvm::enumerate(pad.getStaticLow(), pad.getStaticHigh()))
    zero &= low >= 0 && high >= 0 && ((low == 0 && high == 0) || dim == 1 || dim == 2);
  return llvm::all_of(pad->getUses(), [&](OpOperand &use) {
    return ((zero && isContraction(use.getOwner())) || isWindow(use.getOwner())) && use.getOperandNumber() == 0;
  });
}

static OpRole classifyGeneric(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return OpRole::Unknown;
  // A gather reads at a computed index.
  if (!op.getBlock()->getOps<tensor::ExtractOp>().empty())
    return OpRole::Movement;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool inOrder = llvm::all_of(maps, readsInOrder);
  if (op.getNumParallelLoops() == op.getNumLoops()) {
    bool wholeResult = llvm::all_of(ArrayRef(maps).drop_front(op.getNumDpsInputs()), readsAllLoops);
    return inOrder && wholeResult ? OpRole::Elementwise : OpRole::Movement;
  }
  if (!inOrder)
    return OpRole::Unknown;
  bool innermostReduced = linalg::isReductionIterator(op.getIteratorTypesArray().back());
  if (!innermostReduced)
    return OpRole::ColumnReduction;
  // Reduced loops must be the innermost ones; a parallel loop after the first
  // reduced one would need a transposition first.
  bool seenReduction = false;
  for (utils::IteratorType type : op.getIteratorTypesArray()) {
    if (linalg::isReductionIterator(type))
      seenReduction = true;
    else if (seenReduction)
      return OpRole::Unknown;
  }
  return OpRole::RowReduction;
}

// Whether a result of @main is in the memory of `value`.
static bool holdsResult(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) || (isReshape(user) && holdsResult(user->getResult(0)));
  });
}

bool isView(tensor::ExtractSliceOp slice) {
  std::optional<int64_t> first = top::firstOfPiece(slice);
  auto main = dyn_cast<func::FuncOp>(slice->getParentOp());
  if (!first || !isa<FloatType>(slice.getType().getElementType()) ||
      *first * top::elementBytes(slice.getType().getElementType()) % top::kSliceAlignment != 0 ||
      !top::getTensorName(slice.getResult()).empty() || !main || main.getName() != "main" ||
      main->hasAttr(top::kSymbolsAttr) || holdsResult(slice.getResult()))
    return false;
  Value source = throughReshapes(slice.getSource());
  Operation *producer = source.getDefiningOp();
  if (auto outer = dyn_cast_or_null<tensor::ExtractSliceOp>(producer); outer && isView(outer))
    return true;
  // Inputs, outputs, weights and states have places of their own, which have no parts.
  return producer && !isa<top::StateWriteOp>(producer) && !holdsResult(source) &&
         !llvm::is_contained({OpRole::Host, OpRole::Init, OpRole::Pad, OpRole::Unknown}, classify(producer));
}

OpRole classify(Operation *op) {
  if (isa<top::WeightOp, arith::ConstantOp, tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          func::ReturnOp>(op))
    return OpRole::Host;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op); slice && isView(slice))
    return OpRole::Host;
  if (isContraction(op))
    return OpRole::Cube;
  if (isa<top::AttentionOp>(op))
    return OpRole::Attention;
  if (isa<top::RecurrentOp>(op))
    return OpRole::Recurrence;
  if (templates::hasTemplate(op))
    return OpRole::Template;
  if (isWindow(op))
    return OpRole::Window;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return classifyGeneric(generic);
  if (isa<linalg::FillOp, linalg::BroadcastOp>(op))
    return onlyUsedAsInit(op) ? OpRole::Init : OpRole::Movement;
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return onlyPadsWindows(pad) ? OpRole::Pad : OpRole::Movement;
  if (isa<linalg::TransposeOp, linalg::CopyOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
          top::StateWriteOp>(op))
    return OpRole::Movement;
  return OpRole::Unknown;
}

SmallVector<Value> valuesRead(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

static bool isPlainUnary(linalg::GenericOp generic) {
  return generic.getNumDpsInputs() == 1 && generic.getNumDpsInits() == 1 &&
         llvm::all_of(generic.getIndexingMapsArray(), readsAllLoops);
}

bool isRelu(linalg::GenericOp generic) {
  if (!isPlainUnary(generic))
    return false;
  Block *body = generic.getBlock();
  Value out = cast<linalg::YieldOp>(body->getTerminator()).getOperand(0), in = body->getArgument(0);
  // bf16 is computed in f32; the role is the same.
  auto truncation = out.getDefiningOp<arith::TruncFOp>();
  auto extension = in.hasOneUse() ? dyn_cast<arith::ExtFOp>(*in.user_begin()) : arith::ExtFOp();
  if (extension && truncation && in.getType() == out.getType()) {
    in = extension;
    out = truncation.getIn();
  }
  auto max = out.getDefiningOp<arith::MaximumFOp>();
  if (!max || max->getBlock() != body)
    return false;
  return (max.getLhs() == in && matchPattern(max.getRhs(), m_AnyZeroFloat())) ||
         (max.getRhs() == in && matchPattern(max.getLhs(), m_AnyZeroFloat()));
}

bool isTruncation(linalg::GenericOp generic) {
  if (!isPlainUnary(generic))
    return false;
  Block *body = generic.getBlock();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  auto trunc = yield.getOperand(0).getDefiningOp<arith::TruncFOp>();
  return trunc && trunc.getIn() == body->getArgument(0);
}

bool isExtension(linalg::GenericOp generic) {
  if (!isPlainUnary(generic))
    return false;
  Block *body = generic.getBlock();
  auto extension = cast<linalg::YieldOp>(body->getTerminator()).getOperand(0).getDefiningOp<arith::ExtFOp>();
  return extension && extension.getIn() == body->getArgument(0);
}

} // namespace pto_mlir::kernels
