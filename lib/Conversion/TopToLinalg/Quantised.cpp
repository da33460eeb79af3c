//===- Quantised.cpp - quantised types to integers ------------------------===//

#include "Quantised.h"

#include "LinalgBuilders.h"
#include "QuantisedProducts.h"
#include "pto_mlir/Dialect/Top/IR/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::top_to_linalg {
namespace {

class Lowering {
public:
  explicit Lowering(func::FuncOp func) : func(func), builder(func.getContext()) {}

  LogicalResult run() {
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      for (Value result : op->getResults())
        note(result);
      auto isQuantised = [](Type type) { return top::quantisedElement(type) != nullptr; };
      if (op != func && !isa<func::ReturnOp>(op) &&
          (llvm::any_of(op->getOperandTypes(), isQuantised) || llvm::any_of(op->getResultTypes(), isQuantised)))
        ops.push_back(op);
    });
    for (BlockArgument argument : func.getArguments())
      note(argument);
    if (types.empty())
      return success();
    if (failed(checkTypes()))
      return failure();
    for (BlockArgument argument : func.getArguments())
      argument.setType(top::storageType(argument.getType()));
    bool good = true;
    for (Operation *op : ops)
      if (!done.contains(op))
        good &= succeeded(lower(op));
    func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(),
                                                 func.getBody().front().getTerminator()->getOperandTypes()));
    return success(good);
  }

private:
  void note(Value value) {
    if (quant::QuantizedType type = top::quantisedElement(value.getType()))
      types[value] = type;
  }

  LogicalResult checkTypes() {
    for (auto [value, type] : types)
      if (!type.isSigned())
        return emitError(value.getLoc())
               << "has the quantised type " << type
               << ", stored unsigned, with which no engine computes; the same numbers less 128 are signed";
    return success();
  }

  /// `op` computes `value`, of its result's quantised type.
  LogicalResult replace(Operation *op, Value value) {
    if (auto type = types.lookup(op->getResult(0)))
      types[value] = type;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  }

  /// The op on stored integers does the same.
  LogicalResult keep(Operation *op) {
    for (Value result : op->getResults())
      result.setType(top::storageType(result.getType()));
    return success();
  }

  LogicalResult lower(Operation *op) {
    builder.setInsertionPoint(op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<top::ReshapeOp, top::PermuteOp, top::SliceOp, top::ConcatOp, top::ExpandOp>(
            [&](auto) { return keep(op); })
        .Case<top::WeightOp, top::PadOp, top::ReluOp, top::QuantizeOp, top::DequantizeOp, top::ConvOp, top::MatMulOp>(
            [&](auto typed) { return lowerOp(typed); })
        .Default([](Operation *other) {
          return other->emitOpError("does not compute with quantised types; top.dequantize before it would do");
        });
  }

  LogicalResult lowerOp(top::WeightOp op) {
    std::optional<top::Weight> weight = top::getConstant(op.getOutput());
    if (!weight)
      return op.emitOpError("is not in the weight store");
    weight->type = cast<RankedTensorType>(top::storageType(weight->type));
    return replace(op, top::createConstant(builder, op.getLoc(), op.getName(), *weight));
  }

  LogicalResult lowerOp(top::PadOp op) {
    top::QuantParameters parameters = top::quantParameters(types.lookup(op.getOutput()));
    if (op.getValue().isNonZero() || parameters.axis)
      return op.emitOpError("pads a quantised tensor; its zero point alone, as value 0, of one scale would do");
    op.setValueAttr(builder.getF64FloatAttr(static_cast<double>(parameters.zeroPoints[0])));
    return keep(op);
  }

  /// One number per index of the scaled dimension, ready to be broadcast to a tensor of `rank` dimensions.
  template <typename T> Value constantOf(ArrayRef<T> numbers, std::optional<int64_t> axis, int64_t rank) {
    SmallVector<int64_t> shape(axis ? rank - *axis : 1, 1);
    shape[0] = static_cast<int64_t>(numbers.size());
    SmallVector<double> values(numbers.begin(), numbers.end());
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return top::createConstant(builder, builder.getUnknownLoc(), "quantisation", type,
                               top::fromDoubles(builder.getF32Type(), values));
  }

  static Value number(OpBuilder &b, Location loc, int64_t value) {
    return scalar(b, loc, b.getF32Type(), static_cast<double>(value));
  }

  /// Stored numbers of a type of one scale, at least the zero point.
  LogicalResult lowerOp(top::ReluOp op) {
    quant::QuantizedType type = types.lookup(op.getOutput());
    top::QuantParameters parameters = top::quantParameters(type);
    if (parameters.axis)
      return op.emitOpError("has a scale per index of a dimension; one scale would do");
    if (parameters.zeroPoints[0] <= type.getStorageTypeMin()) {
      top::addAbsorbed(func->getParentOp(), top::getTensorName(op.getLoc()));
      return replace(op, op.getInput());
    }
    auto result = cast<RankedTensorType>(top::storageType(op.getType()));
    return replace(op, elementwise(builder, op.getLoc(), result, op.getInput(), nullptr,
                                   [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                     Value real = b.create<arith::SIToFPOp>(loc, b.getF32Type(), args[0]);
                                     real = b.create<arith::MaximumFOp>(loc, real,
                                                                        number(b, loc, parameters.zeroPoints[0]));
                                     return b.create<arith::FPToSIOp>(loc, result.getElementType(), real);
                                   }));
  }

  LogicalResult lowerOp(top::QuantizeOp op) {
    quant::QuantizedType type = types.lookup(op.getOutput());
    top::QuantParameters parameters = top::quantParameters(type);
    auto result = cast<RankedTensorType>(top::storageType(op.getType()));
    Value scales = constantOf<double>(parameters.scales, parameters.axis, result.getRank()),
          zeros = constantOf<int64_t>(parameters.zeroPoints, parameters.axis, result.getRank());
    return replace(
        op, elementwise(builder, op.getLoc(), result, {op.getInput(), scales, zeros}, nullptr,
                        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                          Value value = convertScalar(b, loc, args[0], b.getF32Type());
                          value = b.create<arith::DivFOp>(loc, value, args[1]);
                          value = b.create<math::RoundEvenOp>(loc, value);
                          value = b.create<arith::AddFOp>(loc, value, args[2]);
                          value = b.create<arith::MaximumFOp>(loc, value, number(b, loc, type.getStorageTypeMin()));
                          value = b.create<arith::MinimumFOp>(loc, value, number(b, loc, type.getStorageTypeMax()));
                          return b.create<arith::FPToSIOp>(loc, result.getElementType(), value);
                        }));
  }

  LogicalResult lowerOp(top::DequantizeOp op) {
    top::QuantParameters parameters = top::quantParameters(types.lookup(op.getInput()));
    auto result = cast<RankedTensorType>(op.getType());
    Value scales = constantOf<double>(parameters.scales, parameters.axis, result.getRank()),
          zeros = constantOf<int64_t>(parameters.zeroPoints, parameters.axis, result.getRank());
    return replace(op, elementwise(builder, op.getLoc(), result, {op.getInput(), scales, zeros}, nullptr,
                                   [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                     Value value = b.create<arith::SIToFPOp>(loc, b.getF32Type(), args[0]);
                                     value = b.create<arith::SubFOp>(loc, value, args[2]);
                                     return b.create<arith::MulFOp>(loc, value, args[1]);
                                   }));
  }

  template <typename Op> LogicalResult lowerOp(Op op) {
    auto [left, right] = operandsOf(op);
    QuantisedProduct product{op, types.lookup(left), types.lookup(right), types.lookup(op.getOutput()), nullptr};
    // A relu that nobody looks behind is the least number that is stored.
    if (op.getOutput().hasOneUse())
      if (auto relu = dyn_cast<top::ReluOp>(*op.getOutput().user_begin()))
        product.relu = relu;
    FailureOr<Value> value = lowerProduct(builder, product);
    if (failed(value))
      return failure();
    if (!product.relu)
      return replace(op, *value);
    top::addAbsorbed(func->getParentOp(), top::getTensorName(op.getLoc()));
    done.insert(product.relu);
    (void)replace(product.relu, *value);
    op->erase();
    return success();
  }
  static std::pair<Value, Value> operandsOf(top::ConvOp op) { return {op.getInput(), op.getFilter()}; }
  static std::pair<Value, Value> operandsOf(top::MatMulOp op) { return {op.getLhs(), op.getRhs()}; }

  func::FuncOp func;
  OpBuilder builder;
  llvm::MapVector<Value, quant::QuantizedType> types;
  llvm::SmallPtrSet<Operation *, 8> done; // with what is before them
};

} // namespace

LogicalResult lowerQuantised(func::FuncOp func) { return Lowering(func).run(); }

} // namespace pto_mlir::top_to_linalg
