#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> pads = adaptor.getPads();
  size_t rank = type.getRank();
  if (pads.size() != 2 * rank)
    return inferError<PadOp>(loc, "expects ", 2 * rank, " values in pads, got ", pads.size());
  SmallVector<int64_t> shape(type.getShape());
  for (size_t i = 0; i < 2 * rank; ++i) {
    if (pads[i] < 0 || pads[i] > INT32_MAX)
      return inferError<PadOp>(loc, "expects pads of at least 0, got ", pads[i]);
    shape[i % rank] += pads[i];
  }
  if (!fitsShape(type.getElementType(), shape))
    return inferError<PadOp>(loc, "changes the dimension that has a scale per index in ", type);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
