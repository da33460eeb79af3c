#include "../Inference.h"

using namespace mlir;
using namespace pto_mlir::top;

// Kernel sizes: the trailing dimensions of the filter in NCHW, the leading ones in NHWC.
static ArrayRef<int64_t> kernelOf(RankedTensorType filter, StringRef layout) {
  return layout == "NHWC" ? filter.getShape().drop_back(2) : filter.getShape().drop_front(2);
}

SmallVector<int64_t> ConvOp::getKernel() { return SmallVector<int64_t>(kernelOf(getFilter().getType(), getLayout())); }

LogicalResult ConvOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType()),
       filter = cast<RankedTensorType>(adaptor.getFilter().getType());
  int64_t rank = input.getRank();
  StringRef layout = adaptor.getLayout();
  bool nhwc = layout == "NHWC";
  if (rank < 3 || filter.getRank() != rank)
    return inferError<ConvOp>(loc, "expects input and filter of one rank, at least 3, got ",
                              shapeText(input.getShape()), " and ", shapeText(filter.getShape()));
  int64_t channels = input.getDimSize(channelDim(layout, rank)), group = adaptor.getGroup();
  int64_t perGroup = filter.getDimSize(nhwc ? rank - 2 : 1), outChannels = filter.getDimSize(nhwc ? rank - 1 : 0);
  if (group < 1)
    return inferError<ConvOp>(loc, "expects a positive count of groups, got ", group);
  if (channels % group || channels / group != perGroup)
    return inferError<ConvOp>(loc, "input has ", channels, " channels, but the filter takes ", perGroup, " in each of ",
                              group, group == 1 ? " group" : " groups");
  if (outChannels % group)
    return inferError<ConvOp>(loc, outChannels, " output channels do not divide into ", group, " groups");
  std::string message;
  // The vector cores multiply in f32 with one weight for each channel and position, which may be as wide.
  Type narrow = input.getElementType();
  if (isDepthwise(group, channels, outChannels) && filter.getElementType().isF32() &&
      (narrow.isF16() || narrow.isBF16()))
    filter = filter.clone(narrow);
  Type element = inferProductElement(input, filter, nhwc ? rank - 1 : 0, adaptor.getBias(), adaptor.getTo(), message);
  if (!element)
    return inferError<ConvOp>(loc, message);
  auto spatial = inferWindow(input.getShape().slice(firstSpatialDim(layout), rank - 2), kernelOf(filter, layout),
                             adaptor.getStrides(), adaptor.getDilations(), adaptor.getPads(), /*ceil=*/false, message);
  if (!spatial)
    return inferError<ConvOp>(loc, message);
  if (Value bias = adaptor.getBias()) {
    auto shape = cast<RankedTensorType>(bias.getType()).getShape();
    if (shape != ArrayRef<int64_t>{outChannels})
      return inferError<ConvOp>(loc, "expects a bias of ", outChannels, ", got ", shapeText(shape));
  }
  SmallVector<int64_t> shape{input.getDimSize(0)};
  if (!nhwc)
    shape.push_back(outChannels);
  shape.append(*spatial);
  if (nhwc)
    shape.push_back(outChannels);
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}
