// Comparisons, boolean logic, selection: result types by numpy broadcasting.
#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

// The broadcast of all operands, with the given element type.
template <typename OpTy>
static LogicalResult inferBroadcast(std::optional<Location> loc, ValueRange operands, Type element,
                                    SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    ArrayRef<int64_t> next = cast<RankedTensorType>(operand.getType()).getShape();
    auto both = broadcastShapes(shape, next);
    if (!both)
      return inferError<OpTy>(loc, "cannot broadcast ", shapeText(shape), " with ", shapeText(next));
    shape = *both;
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  Type lhs = elementOf(adaptor.getLhs()), rhs = elementOf(adaptor.getRhs());
  if (lhs != rhs)
    return inferError<CompareOp>(loc, "expects operands of one element type, got ", lhs, " and ", rhs);
  return inferBroadcast<CompareOp>(loc, adaptor.getOperands(), IntegerType::get(context, 1), types);
}

bool CompareOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  auto want = cast<RankedTensorType>(inferred.front()), have = dyn_cast<RankedTensorType>(actual.front());
  return have && have.getShape() == want.getShape() &&
         (have.getElementType().isInteger(1) || have.getElementType().isInteger(32));
}

LogicalResult WhereOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  Type lhs = elementOf(adaptor.getLhs()), rhs = elementOf(adaptor.getRhs());
  if (lhs != rhs)
    return inferError<WhereOp>(loc, "expects values of one element type, got ", lhs, " and ", rhs);
  return inferBroadcast<WhereOp>(loc, adaptor.getOperands(), lhs, types);
}

#define PTO_INFER_LOGIC(Op)                                                                                            \
  LogicalResult Op::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,                      \
                                     SmallVectorImpl<Type> &types) {                                                   \
    return inferBroadcast<Op>(loc, adaptor.getOperands(), elementOf(adaptor.getLhs()), types);                         \
  }
PTO_INFER_LOGIC(AndOp)
PTO_INFER_LOGIC(OrOp)
PTO_INFER_LOGIC(XorOp)
