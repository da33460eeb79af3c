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

// The ops between floats and codes keep the shape.
static LogicalResult inferCoded(StringRef attribute, Type coded, Value input, Type element, std::optional<Location> loc,
                                SmallVectorImpl<Type> &types) {
  if (!isCodedFloat(coded))
    return emitOptionalError(loc, "expects a float of 8 or 4 bits in '", attribute, "', got ", coded);
  types.push_back(cast<RankedTensorType>(input.getType()).clone(element));
  return success();
}

LogicalResult EncodeFloatOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  return inferCoded("to", adaptor.getTo(), adaptor.getInput(), IntegerType::get(context, 32), loc, types);
}

LogicalResult DecodeFloatOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  return inferCoded("from", adaptor.getFrom(), adaptor.getCodes(), Float32Type::get(context), loc, types);
}
