#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult CastOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (!adaptor.getTo().isIntOrFloat() && !isNarrowFloat(adaptor.getTo()) && !isa<StringType>(adaptor.getTo()))
    return inferError<CastOp>(loc, "expects a number type in 'to', got ", adaptor.getTo());
  types.push_back(cast<RankedTensorType>(adaptor.getInput().getType()).clone(adaptor.getTo()));
  return success();
}
