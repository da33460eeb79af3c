#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult MatMulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType()),
       rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return inferError<MatMulOp>(loc, "expects operands of rank 2 and more, got ", shapeText(lhs.getShape()), " and ",
                                shapeText(rhs.getShape()));
  std::string message;
  Type element = inferProductElement(lhs, rhs, rhs.getRank() - (adaptor.getTransposeB() ? 2 : 1), adaptor.getBias(),
                                     adaptor.getTo(), message);
  if (!element)
    return inferError<MatMulOp>(loc, message);
  bool ta = adaptor.getTransposeA(), tb = adaptor.getTransposeB();
  int64_t m = lhs.getShape().take_back(2)[ta ? 1 : 0], k = lhs.getShape().take_back(2)[ta ? 0 : 1];
  int64_t kRhs = rhs.getShape().take_back(2)[tb ? 1 : 0], n = rhs.getShape().take_back(2)[tb ? 0 : 1];
  if (k != kRhs)
    return inferError<MatMulOp>(loc, "expects equal inner sizes, got ", k, " and ", kRhs, " (",
                                shapeText(lhs.getShape()), " times ", shapeText(rhs.getShape()), ")");
  auto shape = broadcastShapes(lhs.getShape().drop_back(2), rhs.getShape().drop_back(2));
  if (!shape)
    return inferError<MatMulOp>(loc, "cannot broadcast the batch dimensions of ", shapeText(lhs.getShape()), " and ",
                                shapeText(rhs.getShape()));
  if (Value bias = adaptor.getBias()) {
    auto biasType = cast<RankedTensorType>(bias.getType());
    if (biasType.getShape() != ArrayRef<int64_t>{n})
      return inferError<MatMulOp>(loc, "expects a bias of ", n, ", got ", shapeText(biasType.getShape()));
  }
  shape->append({m, n});
  types.push_back(RankedTensorType::get(*shape, element));
  return success();
}
