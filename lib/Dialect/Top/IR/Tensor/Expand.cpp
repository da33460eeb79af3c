#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult ExpandOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> shape = adaptor.getShape();
  auto both = broadcastShapes(type.getShape(), shape);
  if (llvm::any_of(shape, [](int64_t size) { return size < 1; }) || !both || ArrayRef<int64_t>(*both) != shape)
    return inferError<ExpandOp>(loc, "cannot expand ", shapeText(type.getShape()), " to ", shapeText(shape));
  if (!fitsShape(type.getElementType(), shape))
    return inferError<ExpandOp>(loc, "changes the dimension that has a scale per index in ", type);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
