#include "../Inference.h"

#include "pto_mlir/Support/WindowSize.h"

using namespace mlir;
using namespace pto_mlir::top;

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  using Op = ConvTransposeOp;
  auto input = cast<RankedTensorType>(adaptor.getInput().getType()),
       filter = cast<RankedTensorType>(adaptor.getFilter().getType());
  int64_t rank = input.getRank(), group = adaptor.getGroup();
  StringRef layout = adaptor.getLayout();
  bool nhwc = layout == "NHWC";
  if (rank < 3 || filter.getRank() != rank)
    return inferError<Op>(loc, "expects input and filter of one rank, at least 3, got ", shapeText(input.getShape()),
                          " and ", shapeText(filter.getShape()));
  if (input.getElementType() != filter.getElementType())
    return inferError<Op>(loc, "expects input and filter of one element type, got ", input.getElementType(), " and ",
                          filter.getElementType());
  int64_t channels = input.getDimSize(channelDim(layout, rank)), taken = filter.getDimSize(nhwc ? rank - 2 : 0);
  int64_t perGroup = filter.getDimSize(nhwc ? rank - 1 : 1);
  if (group < 1)
    return inferError<Op>(loc, "expects a positive count of groups, got ", group);
  if (channels != taken)
    return inferError<Op>(loc, "input has ", channels, " channels, but the filter takes ", taken);
  if (channels % group)
    return inferError<Op>(loc, channels, " input channels do not divide into ", group, " groups");
  size_t spatial = rank - 2;
  std::tuple<StringRef, ArrayRef<int64_t>, size_t, int64_t> lists[] = {
      {"strides", adaptor.getStrides(), spatial, 1},
      {"dilations", adaptor.getDilations(), spatial, 1},
      {"pads", adaptor.getPads(), 2 * spatial, 0},
      {"output_padding", adaptor.getOutputPadding(), spatial, 0}};
  for (auto [what, values, count, least] : lists) {
    if (values.size() != count)
      return inferError<Op>(loc, "expects ", count, " values in ", what, ", got ", values.size());
    for (int64_t value : values)
      if (value < least || value > INT32_MAX)
        return inferError<Op>(loc, "expects every value in ", what, " to be at least ", least);
  }
  SmallVector<int64_t> shape(input.getShape());
  int64_t first = firstSpatialDim(layout);
  ArrayRef<int64_t> kernel = nhwc ? filter.getShape().drop_back(2) : filter.getShape().drop_front(2);
  for (size_t i = 0; i < spatial; ++i) {
    auto out =
        transposedOutputSize(shape[first + i], kernel[i], adaptor.getStrides()[i], adaptor.getDilations()[i],
                             adaptor.getPads()[i], adaptor.getPads()[spatial + i], adaptor.getOutputPadding()[i]);
    if (!out)
      return inferError<Op>(loc, "pads leave no output in spatial dimension ", i);
    shape[first + i] = *out;
  }
  shape[channelDim(layout, rank)] = perGroup * group;
  if (Value bias = adaptor.getBias()) {
    auto biasShape = cast<RankedTensorType>(bias.getType()).getShape();
    if (biasShape != ArrayRef<int64_t>{perGroup * group})
      return inferError<Op>(loc, "expects a bias of ", perGroup * group, ", got ", shapeText(biasShape));
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}
