// Pooling over windows: max and average.
#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

template <typename OpTy>
static LogicalResult inferPool(std::optional<Location> loc, typename OpTy::Adaptor adaptor,
                               SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  int64_t rank = input.getRank();
  if (rank < 3)
    return inferError<OpTy>(loc, "expects an input of rank 3 and more, got ", shapeText(input.getShape()));
  int64_t first = firstSpatialDim(adaptor.getLayout());
  std::string message;
  auto spatial = inferWindow(input.getShape().slice(first, rank - 2), adaptor.getKernel(), adaptor.getStrides(),
                             adaptor.getDilations(), adaptor.getPads(), adaptor.getCeilMode(), message);
  if (!spatial)
    return inferError<OpTy>(loc, message);
  SmallVector<int64_t> shape(input.getShape());
  llvm::copy(*spatial, shape.begin() + first);
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

// End pads with which the last window ends at the end of the padded input; the given ones if rounding down leaves
// elements unread.
template <typename OpTy> static SmallVector<int64_t> effectivePads(OpTy op) {
  SmallVector<int64_t> pads(op.getPads());
  if (!op.getCeilMode())
    return pads;
  int64_t first = firstSpatialDim(op.getLayout()), count = op.getKernel().size();
  for (int64_t i = 0; i < count; ++i) {
    int64_t in = op.getInput().getType().getDimSize(first + i), out = op.getOutput().getType().getDimSize(first + i);
    int64_t reads = (out - 1) * op.getStrides()[i] + op.getDilations()[i] * (op.getKernel()[i] - 1) + 1;
    pads[count + i] = std::max<int64_t>(0, reads - in - pads[i]);
  }
  return pads;
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferPool<MaxPoolOp>(loc, adaptor, types);
}
LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferPool<AvgPoolOp>(loc, adaptor, types);
}
SmallVector<int64_t> MaxPoolOp::getEffectivePads() { return effectivePads(*this); }
SmallVector<int64_t> AvgPoolOp::getEffectivePads() { return effectivePads(*this); }
