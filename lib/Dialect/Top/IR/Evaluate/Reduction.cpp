// Evaluation of reductions. Floats are summed in double and rounded once; sums of integers wrap.
#include "Evaluate.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"
#include <cmath>

using namespace mlir;

namespace pto_mlir::top {

// Combines the elements of each result by `both`, from the first on.
template <typename T, typename Both>
static std::vector<T> reduced(ArrayRef<T> values, ArrayRef<int64_t> places, int64_t count, Both both) {
  std::vector<T> result(count);
  std::vector<bool> isSet(count);
  for (auto [value, place] : llvm::zip_equal(values, places)) {
    result[place] = isSet[place] ? both(result[place], value) : value;
    isSet[place] = true;
  }
  return result;
}

static std::vector<char> reduceFloats(Operation *op, const Weight &input, ArrayRef<int64_t> places, Type element,
                                      int64_t count) {
  std::vector<double> values = toDoubles(input);
  auto by = [&](auto both) { return reduced<double>(values, places, count, both); };
  std::vector<double> result =
      isa<ReduceMaxOp>(op)   ? by([](double a, double b) { return std::isnan(a) || a > b ? a : b; })
      : isa<ReduceMinOp>(op) ? by([](double a, double b) { return std::isnan(a) || a < b ? a : b; })
                             : by([](double a, double b) { return a + b; });
  if (isa<ReduceMeanOp>(op)) {
    size_t terms = values.size() / count;
    for (double &value : result)
      value /= double(terms);
  }
  return fromDoubles(element, result);
}

static std::vector<char> reduceInts(Operation *op, const Weight &input, ArrayRef<int64_t> places, Type element,
                                    int64_t count) {
  std::vector<int64_t> values = toInts(input);
  auto by = [&](auto both) { return reduced<int64_t>(values, places, count, both); };
  return fromInts(element, isa<ReduceMaxOp>(op)   ? by([](int64_t a, int64_t b) { return std::max(a, b); })
                           : isa<ReduceMinOp>(op) ? by([](int64_t a, int64_t b) { return std::min(a, b); })
                                                  : by([](int64_t a, int64_t b) {
                                                      return static_cast<int64_t>(uint64_t(a) + uint64_t(b));
                                                    }));
}

std::optional<std::vector<char>> evaluateReduction(Operation *op, ArrayRef<Weight> operands) {
  if (!isa<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp>(op))
    return std::nullopt;
  const Weight &input = operands.front();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  bool isFloat = isa<FloatType>(element), isMean = isa<ReduceMeanOp>(op);
  if (element != input.type.getElementType() || input.type.getNumElements() == 0 || type.getNumElements() == 0 ||
      (!isFloat && (!isa<IntegerType>(element) || isMean || element.isUnsignedInteger(64))))
    return std::nullopt;
  SmallVector<int64_t> kept(input.type.getShape());
  for (int64_t axis : op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef())
    kept[axis] = 1;
  SmallVector<int64_t> strides = rowMajorStrides(kept);
  for (auto [size, whole, stride] : llvm::zip_equal(kept, input.type.getShape(), strides))
    stride = size == whole ? stride : 0;
  std::vector<int64_t> places;
  forEachOffset(input.type.getShape(), strides, 0, [&](int64_t place) { places.push_back(place); });
  return (isFloat ? reduceFloats : reduceInts)(op, input, places, element, type.getNumElements());
}

} // namespace pto_mlir::top
