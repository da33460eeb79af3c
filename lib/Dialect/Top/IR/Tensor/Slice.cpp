#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  size_t rank = type.getRank();
  ArrayRef<int64_t> starts = adaptor.getStarts(), ends = adaptor.getEnds(), steps = adaptor.getSteps();
  if (starts.size() != rank || ends.size() != rank || steps.size() != rank)
    return inferError<SliceOp>(loc, "expects ", rank, " starts, ends and steps, got ", starts.size(), ", ", ends.size(),
                               " and ", steps.size());
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = type.getDimSize(i), start = starts[i], end = ends[i], step = steps[i];
    bool down = step < 0;
    if (step == 0 || start < 0 || start > size || (down && start == size && size) || end < (down ? -1 : 0) ||
        end > size)
      return inferError<SliceOp>(loc, "start ", start, ", end ", end, ", step ", step, " do not fit size ", size,
                                 " of dimension ", i);
    // Computed with the sign of the step: negating a huge step could overflow.
    int64_t reach = end - start;
    bool empty = down ? reach >= 0 : reach <= 0;
    shape.push_back(empty ? 0 : (reach + (down ? 1 : -1)) / step + 1);
  }
  if (!fitsShape(type.getElementType(), shape))
    return inferError<SliceOp>(loc, "changes the dimension that has a scale per index in ", type);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
