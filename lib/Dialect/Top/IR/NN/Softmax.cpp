#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return inferError<SoftmaxOp>(loc, "expects an axis in [0, ", type.getRank(), "), got ", axis);
  types.push_back(type);
  return success();
}
