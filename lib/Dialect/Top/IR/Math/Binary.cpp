// Elementwise binary ops: result types by numpy broadcasting. A scale or shift may be f32 next to a narrower float.
#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

template <typename OpTy>
static LogicalResult inferBinary(std::optional<Location> loc, typename OpTy::Adaptor adaptor,
                                 SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType()),
       rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  Type element = lhs.getElementType();
  auto isNarrow = [](Type type) { return type.isF16() || type.isBF16(); };
  if (element.isF32() && isNarrow(rhs.getElementType()))
    element = rhs.getElementType();
  else if (element != rhs.getElementType() && !(isNarrow(element) && rhs.getElementType().isF32()))
    return inferError<OpTy>(loc, "expects operands of one element type, got ", lhs.getElementType(), " and ",
                            rhs.getElementType());
  auto shape = broadcastShapes(lhs.getShape(), rhs.getShape());
  if (!shape)
    return inferError<OpTy>(loc, "cannot broadcast ", shapeText(lhs.getShape()), " with ", shapeText(rhs.getShape()));
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}

#define PTO_INFER_BINARY(Op)                                                                                           \
  LogicalResult Op::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,                      \
                                     SmallVectorImpl<Type> &types) {                                                   \
    return inferBinary<Op>(loc, adaptor, types);                                                                       \
  }
PTO_INFER_BINARY(AddOp)
PTO_INFER_BINARY(SubOp)
PTO_INFER_BINARY(MulOp)
PTO_INFER_BINARY(DivOp)
PTO_INFER_BINARY(PowOp)
PTO_INFER_BINARY(MaxOp)
PTO_INFER_BINARY(MinOp)
PTO_INFER_BINARY(BitAndOp)
PTO_INFER_BINARY(BitOrOp)
PTO_INFER_BINARY(BitXorOp)
