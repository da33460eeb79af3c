//===- Epilogue.cpp - what a contraction does to its sums -----------------===//

#include "Epilogue.h"

#include "Reshapes.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include "pto_mlir/Kernels/Requantise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pto_mlir {
namespace {

bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

/// The operand of max(x, 0) that is not 0.
Value underRelu(Operation *op) {
  auto max = dyn_cast<arith::MaximumFOp>(op);
  if (!max)
    return nullptr;
  return isZero(max.getRhs()) ? max.getLhs() : isZero(max.getLhs()) ? max.getRhs() : nullptr;
}

/// The ops of a body between its input and what it yields, the first one first; none when another op is in the way.
FailureOr<SmallVector<Operation *>> stepsOf(linalg::GenericOp op, Operation **reject) {
  SmallVector<Operation *> steps;
  Value value = op.getBlock()->getTerminator()->getOperand(0);
  while (value != op.getBlock()->getArgument(0)) {
    Operation *step = value.getDefiningOp();
    value = nullptr;
    if (step)
      value = isa<arith::TruncFOp, arith::ExtFOp>(step) ? step->getOperand(0) : underRelu(step);
    if (!value) {
      *reject = step ? step : op;
      return failure();
    }
    steps.push_back(step);
  }
  std::reverse(steps.begin(), steps.end());
  // What is computed wider than it is stored, as relu of bf16.
  if (steps.size() > 1 && isa<arith::ExtFOp>(steps.front()) && isa<arith::TruncFOp>(steps.back()) &&
      steps.front()->getOperand(0).getType() == steps.back()->getResult(0).getType())
    steps = SmallVector<Operation *>(ArrayRef(steps).drop_front().drop_back());
  return steps;
}

/// Whether a row of scales reads the columns: the last dimension, or the last two of a grouped convolution.
bool readsColumns(AffineMap map) {
  return map.isMinorIdentity() && map.getNumResults() > 0 && map.getNumResults() <= 2;
}

/// False for constants that the fixpipe would cut. In a kernel scales are arguments: whoever made it has looked.
bool fitColumns(Value scales) {
  if (isa<BlockArgument>(scales))
    return true;
  scales = throughReshapes(scales);
  if (isa<BlockArgument>(scales))
    return true;
  std::optional<top::Weight> weight = top::getConstant(scales);
  return weight &&
         llvm::all_of(top::toDoubles(*weight), [](double scale) { return fitsColumnScale(static_cast<float>(scale)); });
}

} // namespace

bool Epilogue::takeRequantisation(linalg::GenericOp op) {
  std::optional<Requantisation> steps = Requantisation::match(op.getBlock()->getTerminator()->getOperand(0));
  if (!steps || target || relu() || steps->sum != op.getBlock()->getArgument(0) ||
      !steps->sum.getType().isSignlessInteger(32) || !steps->to.isSignlessInteger(8) || steps->greatest != 127)
    return false;
  bool clamps = steps->least == 0 && steps->zero == 0; // the fixpipe's relu is at 0
  if (steps->least != -128 && !clamps)
    return false;
  FloatAttr constant;
  if (matchPattern(steps->scale, m_Constant(&constant)))
    scale = static_cast<float>(constant.getValueAsDouble());
  else if (op.getNumDpsInputs() == 2 && steps->scale == op.getBlock()->getArgument(1) &&
           readsColumns(op.getIndexingMapsArray()[1]) && fitColumns(op.getInputs()[1]))
    scales = op.getInputs()[1];
  else
    return false;
  offset = steps->zero;
  target = steps->to;
  activation = clamps ? Activation::Relu : Activation::None;
  return true;
}

bool Epilogue::take(linalg::GenericOp op, Operation **reject) {
  Operation *inTheWay = op;
  Operation *&blame = reject ? *reject : inTheWay;
  blame = op;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops() || !maps.front().isIdentity() ||
      !maps.back().isIdentity())
    return false;
  if (takeRequantisation(op))
    return true;
  if (op.getNumDpsInputs() != 1 || requantises())
    return false;
  FailureOr<SmallVector<Operation *>> steps = stepsOf(op, &blame);
  if (failed(steps))
    return false;
  Epilogue taken = *this;
  for (Operation *step : *steps) {
    blame = step;
    if (isa<arith::TruncFOp>(step) && !taken.target)
      taken.target = step->getResult(0).getType();
    else if (isa<arith::MaximumFOp>(step) && !taken.relu())
      taken.activation = Activation::Relu;
    else
      return false;
  }
  *this = taken;
  return true;
}

LogicalResult Epilogue::takeInit(Operation *root, Value init) {
  init = throughReshapes(init);
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    if (isZero(fill.getInputs()[0]))
      return success();
    return fill.emitOpError("of a cube kernel's init must be 0");
  }
  DenseElementsAttr constant;
  if (matchPattern(init, m_Constant(&constant)) && constant.isSplat() && isZero(init))
    return success();
  if (auto broadcast = init.getDefiningOp<linalg::BroadcastOp>()) {
    for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions()))
      if (dim != static_cast<int64_t>(i))
        return broadcast.emitOpError("of a cube kernel's bias must add leading dimensions");
    bias = broadcast.getInput();
    return success();
  }
  auto generic = init.getDefiningOp<linalg::GenericOp>();
  if (!generic)
    return root->emitOpError("expects an init of 0 or a broadcast bias in a cube kernel");
  AffineMap map = generic.getNumDpsInputs() == 1 ? generic.getIndexingMapsArray()[0] : AffineMap();
  Block *body = generic.getBody();
  if (!map || !map.isMinorIdentity() || body->getTerminator()->getOperand(0) != body->getArgument(0))
    return generic.emitOpError("is no broadcast of a bias");
  bias = generic.getInputs()[0];
  return success();
}

Value Epilogue::buildRequantisation(OpBuilder &builder, Location loc, Value sums, Value destination) const {
  auto type = cast<RankedTensorType>(sums.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> inputs{sums};
  SmallVector<AffineMap> maps{identity};
  if (scales) {
    auto columns = cast<RankedTensorType>(scales.getType());
    Value row = scales;
    int64_t last = type.getShape().back();
    if (columns.getNumElements() != last) { // a grouped convolution, before its groups are merged
      auto split = RankedTensorType::get({columns.getNumElements() / last, last}, columns.getElementType());
      row = builder.create<tensor::ExpandShapeOp>(loc, split, row, ArrayRef<ReassociationIndices>{{0, 1}});
    }
    inputs.push_back(row);
    maps.push_back(identity.getMinorSubMap(cast<RankedTensorType>(row.getType()).getRank()));
  }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
    Requantisation steps;
    steps.sum = args[0];
    steps.scale =
        scales ? args[1] : b.create<arith::ConstantOp>(bodyLoc, b.getF32FloatAttr(scale.value_or(1))).getResult();
    steps.zero = offset;
    steps.least = relu() ? 0 : -128;
    steps.to = target;
    b.create<linalg::YieldOp>(bodyLoc, steps.emit(b, bodyLoc));
  };
  return builder.create<linalg::GenericOp>(loc, destination.getType(), inputs, destination, maps, parallel, body)
      .getResult(0);
}

Value Epilogue::build(OpBuilder &builder, Location loc, Value sums, Value destination) const {
  if (requantises())
    return buildRequantisation(builder, loc, sums, destination);
  auto type = cast<RankedTensorType>(sums.getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  auto unary = [&](Value input, Value init, llvm::function_ref<Value(OpBuilder &, Value)> body) -> Value {
    return builder
        .create<linalg::GenericOp>(loc, init.getType(), input, init, ArrayRef<AffineMap>{identity, identity}, parallel,
                                   [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
                                     b.create<linalg::YieldOp>(bodyLoc, body(b, args[0]));
                                   })
        .getResult(0);
  };
  // The accumulator is the better place for relu.
  Value value = sums;
  if (relu()) {
    Value init =
        target ? builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType()).getResult() : destination;
    Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type.getElementType()));
    value =
        unary(value, init, [&](OpBuilder &b, Value in) -> Value { return b.create<arith::MaximumFOp>(loc, in, zero); });
  }
  if (target)
    value = unary(value, destination,
                  [&](OpBuilder &b, Value in) -> Value { return b.create<arith::TruncFOp>(loc, target, in); });
  return value;
}

} // namespace pto_mlir
