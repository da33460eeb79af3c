#include "../Inference.h"

#include "pto_mlir/Dialect/Top/IR/Quantised.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult QuantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (!isTopQuantised(adaptor.getTo()))
    return inferError<QuantizeOp>(loc, "expects a quantised type of 8 bits in 'to', got ", adaptor.getTo());
  if (!fitsShape(adaptor.getTo(), input.getShape()))
    return inferError<QuantizeOp>(loc, "expects a scale for each index of one dimension of ",
                                  shapeText(input.getShape()), ", got ", adaptor.getTo());
  types.push_back(input.clone(adaptor.getTo()));
  return success();
}

LogicalResult DequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (!isa<FloatType>(adaptor.getTo()))
    return inferError<DequantizeOp>(loc, "expects a float type in 'to', got ", adaptor.getTo());
  types.push_back(cast<RankedTensorType>(adaptor.getInput().getType()).clone(adaptor.getTo()));
  return success();
}
