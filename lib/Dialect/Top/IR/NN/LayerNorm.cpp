#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return inferError<LayerNormOp>(loc, "expects an axis in [0, ", type.getRank(), "), got ", axis);
  ArrayRef<int64_t> normalised = type.getShape().drop_front(axis);
  if (adaptor.getParams().size() > 2)
    return inferError<LayerNormOp>(loc, "expects at most scale and bias, got ", adaptor.getParams().size(),
                                   " parameters");
  for (Value value : adaptor.getParams()) {
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    if (shape != normalised)
      return inferError<LayerNormOp>(loc, "expects parameters of the normalised shape ", shapeText(normalised),
                                     ", got ", shapeText(shape));
  }
  types.push_back(type);
  return success();
}
