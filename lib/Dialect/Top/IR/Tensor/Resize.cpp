#include "../Inference.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  size_t rank = type.getRank();
  if (adaptor.getSizes().size() != rank || adaptor.getScales().size() != rank)
    return inferError<ResizeOp>(loc, "expects ", rank, " sizes and scales, got ", adaptor.getSizes().size(), " and ",
                                adaptor.getScales().size());
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t size = adaptor.getSizes()[dim];
    double scale = adaptor.getScales()[dim];
    if (size < 1 || size > INT32_MAX || !(scale > 0) || scale > INT32_MAX || type.getDimSize(dim) < 1)
      return inferError<ResizeOp>(loc, "cannot resize dimension ", dim, " of ", type.getDimSize(dim), " elements to ",
                                  size, " (scale ", scale, ")");
  }
  auto known = [&](StringRef what, StringRef value, ArrayRef<StringRef> choices) -> LogicalResult {
    if (llvm::is_contained(choices, value))
      return success();
    return inferError<ResizeOp>(loc, "knows no ", what, " '", value, "'; it may be ", llvm::join(choices, ", "));
  };
  if (failed(known("mode", adaptor.getMode(), {"nearest", "linear", "cubic"})) ||
      failed(known("coordinate transformation", adaptor.getCoordinates(),
                   {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                    "tf_half_pixel_for_nn", "tf_crop_and_resize"})) ||
      failed(known("nearest mode", adaptor.getNearestMode(),
                   {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"})))
    return failure();
  if (adaptor.getCoordinates() == "tf_crop_and_resize" && (!adaptor.getRoi() || adaptor.getRoi()->size() != 2 * rank))
    return inferError<ResizeOp>(loc, "expects ", 2 * rank, " values in roi for tf_crop_and_resize");
  types.push_back(RankedTensorType::get(adaptor.getSizes(), type.getElementType()));
  return success();
}
