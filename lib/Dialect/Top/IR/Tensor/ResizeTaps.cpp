#include "pto_mlir/Dialect/Top/IR/ResizeTaps.h"

using namespace mlir;

namespace pto_mlir::top {

std::vector<SmallVector<ResizeTap, 4>> resizeTaps(ResizeOp op, int64_t dim) {
  ResizeLine line;
  std::string mode = op.getMode().str(), coordinates = op.getCoordinates().str(), nearest = op.getNearestMode().str();
  line.mode = mode, line.coordinates = coordinates, line.nearest = nearest;
  line.in = op.getInput().getType().getDimSize(dim);
  line.out = op.getSizes()[dim];
  line.scale = op.getScales()[dim];
  if (line.coordinates == "tf_crop_and_resize") {
    line.roiStart = (*op.getRoi())[dim];
    line.roiEnd = (*op.getRoi())[dim + op.getSizes().size()];
  }
  line.cubicA = op.getCubicCoeffA().convertToDouble();
  line.excludeOutside = op.getExcludeOutside();
  line.antialias = op.getAntialias();
  line.isDouble = op.getType().getElementType().isF64();
  std::vector<SmallVector<ResizeTap, 4>> result;
  for (const std::vector<ResizeTap> &taps : pto_mlir::resizeTaps(line))
    result.emplace_back(taps.begin(), taps.end());
  return result;
}

std::optional<SmallVector<int64_t>> copiedIndices(ArrayRef<SmallVector<ResizeTap, 4>> taps) {
  SmallVector<int64_t> indices;
  for (const auto &list : taps) {
    if (list.size() != 1 || list.front().weight != 1)
      return std::nullopt;
    indices.push_back(list.front().index);
  }
  return indices;
}

bool repeatsEach(ArrayRef<int64_t> indices, int64_t size) {
  int64_t count = indices.size(), times = count / size;
  for (auto [i, index] : llvm::enumerate(indices))
    if (count % size || index != static_cast<int64_t>(i) / times)
      return false;
  return true;
}

bool stepsEvenly(ArrayRef<int64_t> indices) {
  int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step)
      return false;
  return step > 0;
}

} // namespace pto_mlir::top
