#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return inferError<ConcatOp>(loc, "expects at least one input");
  auto first = cast<RankedTensorType>(adaptor.getInputs().front().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return inferError<ConcatOp>(loc, "expects an axis in [0, ", first.getRank(), "), got ", axis);
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getElementType() != first.getElementType())
      return inferError<ConcatOp>(loc, "expects inputs of one element type, got ", first.getElementType(), " and ",
                                  type.getElementType());
    SmallVector<int64_t> expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[axis] = type.getDimSize(axis);
    if (type.getShape() != ArrayRef<int64_t>(expected))
      return inferError<ConcatOp>(loc, "expects inputs that differ along axis ", axis, " only, got ",
                                  shapeText(first.getShape()), " and ", shapeText(type.getShape()));
    shape[axis] += type.getDimSize(axis);
  }
  if (!fitsShape(first.getElementType(), shape))
    return inferError<ConcatOp>(loc, "changes the dimension that has a scale per index in ", first);
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}
