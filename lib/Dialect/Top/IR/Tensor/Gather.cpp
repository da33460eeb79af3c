#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto data = cast<RankedTensorType>(adaptor.getData().getType()),
       indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= data.getRank())
    return inferError<GatherOp>(loc, "expects an axis in [0, ", data.getRank(), "), got ", axis);
  if (!indices.getElementType().isInteger(32) && !indices.getElementType().isInteger(64))
    return inferError<GatherOp>(loc, "expects indices of type i32 or i64, got ", indices.getElementType());
  SmallVector<int64_t> shape(data.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, data.getShape().drop_front(axis + 1));
  types.push_back(RankedTensorType::get(shape, data.getElementType()));
  return success();
}
