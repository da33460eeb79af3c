// Evaluation of a batch normalisation of constants, by which exporters standardise the weights of convolutions.
#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include <cmath>

using namespace mlir;

namespace pto_mlir::top {

std::optional<std::vector<char>> evaluateBatchNorm(Operation *op, ArrayRef<Weight> operands) {
  auto norm = dyn_cast<BatchNormOp>(op);
  if (!norm)
    return std::nullopt;
  auto type = norm.getType();
  int64_t dim = channelDim(norm.getLayout(), type.getRank());
  int64_t inner = ShapedType::getNumElements(type.getShape().drop_front(dim + 1)), channels = type.getDimSize(dim);
  std::vector<double> values = toDoubles(operands[0]), scale = toDoubles(operands[1]), bias = toDoubles(operands[2]);
  std::vector<double> mean = toDoubles(operands[3]), variance = toDoubles(operands[4]);
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t c = int64_t(i) / inner % channels;
    value = (value - mean[c]) / std::sqrt(variance[c] + norm.getEpsilon().convertToDouble()) * scale[c] + bias[c];
  }
  return fromDoubles(type.getElementType(), values);
}

} // namespace pto_mlir::top
