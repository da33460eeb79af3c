#include "Decompose.h"

#include "pto_mlir/Dialect/Top/IR/Constants.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace pto_mlir::top::decompose {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

SmallVector<int64_t> withDim(ArrayRef<int64_t> shape, int64_t dim, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> result(shape.take_front(dim));
  llvm::append_range(result, sizes);
  llvm::append_range(result, shape.drop_front(dim + 1));
  return result;
}

Value Chain::reshape(Value value, ArrayRef<int64_t> shape) {
  return shapeOf(value) == shape ? value : rewriter.create<ReshapeOp>(loc, value, shape);
}

Value Chain::permute(Value value, ArrayRef<int64_t> perm) {
  return isIdentityPermutation(perm) ? value : rewriter.create<PermuteOp>(loc, value, perm);
}

Value Chain::slice(Value value, int64_t dim, int64_t start, int64_t count, int64_t step) {
  SmallVector<int64_t> starts(shapeOf(value).size(), 0), ends(shapeOf(value)), steps(starts.size(), 1);
  if (start == 0 && count == ends[dim] && step == 1)
    return value;
  starts[dim] = start;
  ends[dim] = start + (count - 1) * step + 1;
  steps[dim] = step;
  return rewriter.create<SliceOp>(loc, value, starts, ends, steps);
}

Value Chain::pad(Value value, int64_t dim, int64_t begin, int64_t end, double filler) {
  int64_t rank = shapeOf(value).size(), cutBegin = std::max<int64_t>(-begin, 0), cutEnd = std::max<int64_t>(-end, 0);
  value = slice(value, dim, cutBegin, shapeOf(value)[dim] - cutBegin - cutEnd);
  if (begin <= 0 && end <= 0)
    return value;
  SmallVector<int64_t> pads(2 * rank, 0);
  pads[dim] = std::max<int64_t>(begin, 0);
  pads[rank + dim] = std::max<int64_t>(end, 0);
  return rewriter.create<PadOp>(loc, value, pads, llvm::APFloat(filler));
}

Value Chain::concat(ArrayRef<Value> values, int64_t dim) {
  return values.size() == 1 ? values.front() : rewriter.create<ConcatOp>(loc, values, dim);
}

Value Chain::spread(Value value, int64_t dim, int64_t step) {
  SmallVector<int64_t> shape(shapeOf(value));
  int64_t size = shape[dim];
  Value apart = pad(reshape(value, withDim(shape, dim, {size, 1})), dim + 1, 0, step - 1);
  return slice(reshape(apart, withDim(shape, dim, size * step)), dim, 0, (size - 1) * step + 1);
}

void Window::dropFirst() {
  for (SmallVector<int64_t> *list : {&kernel, &strides, &dilations, &begins, &ends})
    list->erase(list->begin());
}

void Window::makeUnit(size_t i) {
  kernel[i] = strides[i] = dilations[i] = 1;
  begins[i] = ends[i] = 0;
}

Value Chain::constant(StringRef name, Type element, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  return createConstant(rewriter, loc, name, RankedTensorType::get(shape, element), fromDoubles(element, values));
}

Value stackTaps(Chain &chain, Value input, size_t i, ArrayRef<int64_t> starts, int64_t stride, int64_t out,
                int64_t group) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t channels = shape[1] / group, taps = starts.size();
  SmallVector<Value> slices;
  // Channels as they are, which top-layout carries through to channels-last.
  if (group == 1) {
    for (int64_t start : starts)
      slices.push_back(chain.slice(input, 2 + i, start, out, stride));
    return chain.concat(slices, 1);
  }
  // [N, G, 1, C, spatial..] of each tap.
  for (int64_t start : starts) {
    Value tap = chain.slice(input, 2 + i, start, out, stride);
    slices.push_back(chain.reshape(tap, withDim(shapeOf(tap), 1, {group, 1, channels})));
  }
  Value stacked = chain.concat(slices, 2);
  SmallVector<int64_t> result = withDim(shape, 2 + i, out);
  result[1] = group * taps * channels;
  return chain.reshape(stacked, result);
}

Value foldTaps(Chain &chain, Value filter, size_t i) {
  ArrayRef<int64_t> shape = shapeOf(filter);
  int64_t rank = shape.size(), dim = 2 + i;
  // [O, C, .., K, ..] -> [O, K, C, .., ..]
  SmallVector<int64_t> perm{0, dim, 1};
  for (int64_t d = 2; d < rank; ++d)
    if (d != dim)
      perm.push_back(d);
  SmallVector<int64_t> result = withDim(shape, dim, 1);
  result[1] = shape[1] * shape[dim];
  return chain.reshape(chain.permute(filter, perm), result);
}

} // namespace pto_mlir::top::decompose
