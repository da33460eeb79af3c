//===- PTOViewOps.cpp - views of global memory ---------------------------------------===//

#include "VerifyHelpers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace pto_mlir::pto;

LogicalResult MakeTensorViewOp::verify() {
  int64_t rank = getResult().getType().getRank();
  if (static_cast<int64_t>(getShape().size()) != rank || static_cast<int64_t>(getStrides().size()) != rank)
    return emitOpError("expects ") << rank << " sizes and " << rank << " strides for " << getResult().getType()
                                   << ", got " << getShape().size() << " and " << getStrides().size();
  return success();
}

LogicalResult PartitionViewOp::verify() {
  TensorViewType source = getSource().getType();
  PartitionTensorViewType result = getResult().getType();
  int64_t rank = source.getRank();
  if (static_cast<int64_t>(getOffsets().size()) != rank || static_cast<int64_t>(getSizes().size()) != rank)
    return emitOpError("expects ") << rank << " offsets and " << rank << " sizes, got " << getOffsets().size()
                                   << " and " << getSizes().size();
  if (source.getElementType() != result.getElementType())
    return emitOpError("expects a result of ") << source.getElementType() << ", got " << result.getElementType();
  if (result.getRank() > rank)
    return emitOpError("expects a result of rank ") << rank << " or lower, got " << result.getRank();
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<int64_t> offset = getConstantIntValue(getOffsets()[i]), size = getConstantIntValue(getSizes()[i]);
    if (offset && *offset < 0)
      return emitOpError("expects offset ") << i << " >= 0, got " << *offset;
    if (size && *size <= 0)
      return emitOpError("expects size ") << i << " > 0, got " << *size;
    int64_t bound = source.getShape()[i];
    if (offset && size && !ShapedType::isDynamic(bound) && *offset + *size > bound)
      return emitOpError("expects offset + size of dimension ")
             << i << " within " << bound << ", got " << *offset + *size;
    if (size && result.getRank() == rank && !sameExtent(result.getShape()[i], *size))
      return emitOpError("expects dimension ")
             << i << " of the result to be " << *size << ", got " << result.getShape()[i];
  }
  return success();
}

static LogicalResult verifyScalarAccess(Operation *op, Type pointer, Type value) {
  if (sameScalar(elementTypeOf(pointer), value))
    return success();
  return op->emitOpError("expects a value of ") << elementTypeOf(pointer) << ", got " << value;
}
LogicalResult LoadScalarOp::verify() { return verifyScalarAccess(*this, getPtr().getType(), getValue().getType()); }
LogicalResult StoreScalarOp::verify() { return verifyScalarAccess(*this, getPtr().getType(), getValue().getType()); }
