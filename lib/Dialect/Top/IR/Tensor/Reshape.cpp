#include "../Inference.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  SmallVector<int64_t> shape(adaptor.getShape());
  int64_t known = 1, *open = nullptr;
  for (int64_t &size : shape) {
    if (size == -1 && !open)
      open = &size;
    else if (size < 0 || llvm::MulOverflow(known, size, known))
      return inferError<ReshapeOp>(loc, "expects sizes of at least 0 and at most one -1 in shape, got ", size);
  }
  int64_t count = type.getNumElements();
  if (open && known > 0 && count % known == 0) {
    *open = count / known;
    known = count;
  }
  if (known != count || llvm::is_contained(shape, -1))
    return inferError<ReshapeOp>(loc, "cannot give ", shapeText(type.getShape()), " (", count, " elements) the shape ",
                                 shapeText(adaptor.getShape()));
  Type element = reshapedElement(type.getElementType(), type.getShape(), shape);
  if (!element)
    return inferError<ReshapeOp>(loc, "merges or splits the dimension that has a scale per index in ", type);
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}
