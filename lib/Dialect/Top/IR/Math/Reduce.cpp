// Reductions (sum, mean, max, min) over a list of axes.
#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

template <typename OpTy>
static LogicalResult inferReduce(std::optional<Location> loc, typename OpTy::Adaptor adaptor,
                                 SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  SmallVector<int64_t> shape(type.getShape());
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= type.getRank() || (i && axis <= axes[i - 1]))
      return inferError<OpTy>(loc, "expects ascending axes in [0, ", type.getRank(), "), got ", axis);
    shape[axis] = 1;
  }
  if (!adaptor.getKeepdims())
    for (int64_t axis : llvm::reverse(axes))
      shape.erase(shape.begin() + axis);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

#define PTO_INFER_REDUCE(Op)                                                                                           \
  LogicalResult Op::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,                      \
                                     SmallVectorImpl<Type> &types) {                                                   \
    return inferReduce<Op>(loc, adaptor, types);                                                                       \
  }
PTO_INFER_REDUCE(ReduceSumOp)
PTO_INFER_REDUCE(ReduceMeanOp)
PTO_INFER_REDUCE(ReduceMaxOp)
PTO_INFER_REDUCE(ReduceMinOp)
