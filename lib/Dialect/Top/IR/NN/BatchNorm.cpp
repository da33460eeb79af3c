#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  if (type.getRank() < 2)
    return inferError<BatchNormOp>(loc, "expects an input of rank 2 and more, got ", shapeText(type.getShape()));
  int64_t channels = type.getDimSize(channelDim(adaptor.getLayout(), type.getRank()));
  std::pair<StringRef, Value> params[] = {{"scale", adaptor.getScale()},
                                          {"bias", adaptor.getBias()},
                                          {"mean", adaptor.getMean()},
                                          {"variance", adaptor.getVariance()}};
  for (auto [what, value] : params) {
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    if (shape != ArrayRef<int64_t>{channels})
      return inferError<BatchNormOp>(loc, "expects ", what, " of ", channels, " (the input's channels), got ",
                                     shapeText(shape));
  }
  types.push_back(type);
  return success();
}
