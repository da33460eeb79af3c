#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult StateWriteOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto state = cast<RankedTensorType>(adaptor.getState().getType()),
       update = cast<RankedTensorType>(adaptor.getUpdate().getType()),
       position = cast<RankedTensorType>(adaptor.getPosition().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= state.getRank())
    return inferError<StateWriteOp>(loc, "expects an axis in [0, ", state.getRank(), "), got ", axis);
  if (update.getElementType() != state.getElementType() || update.getRank() != state.getRank() ||
      update.getDimSize(axis) > state.getDimSize(axis))
    return inferError<StateWriteOp>(loc, "cannot write ", update, " into ", state);
  for (int64_t dim = 0; dim < state.getRank(); ++dim)
    if (dim != axis && update.getDimSize(dim) != state.getDimSize(dim))
      return inferError<StateWriteOp>(loc, "expects update and state to differ along axis ", axis, " only, got ",
                                      update, " and ", state);
  bool isPerBatch = axis > 0 && position.getRank() == 1 && position.getDimSize(0) == state.getDimSize(0);
  if (!position.getElementType().isInteger(32) ||
      (!isPerBatch && (position.getRank() != 1 || position.getDimSize(0) != 1)))
    return inferError<StateWriteOp>(loc, "expects one position, or one per index of dimension 0, of i32, got ",
                                    position);
  types.push_back(state);
  return success();
}
