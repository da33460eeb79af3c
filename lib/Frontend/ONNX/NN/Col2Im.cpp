// Col2Im: blocks added into an image, as a transposed convolution whose filters put one value each at its place.
#include "../Registry.h"
#include "Window.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {

static LogicalResult importCol2Im(Node &node) {
  RankedTensorType type = node.type(0);
  std::optional<SmallVector<int64_t>> image = node.ints(1, "image_shape"), block = node.ints(2, "block_shape");
  if (!image || !block)
    return failure();
  size_t count = image->size();
  auto list = [&](StringRef name, size_t length, int64_t otherwise) {
    return node.intsAttr(name).value_or(SmallVector<int64_t>(length, otherwise));
  };
  SmallVector<int64_t> dilations = list("dilations", count, 1), strides = list("strides", count, 1),
                       pads = list("pads", 2 * count, 0);
  if (type.getRank() != 3 || block->size() != count || dilations.size() != count || strides.size() != count ||
      pads.size() != 2 * count || llvm::any_of(*block, [](int64_t n) { return n < 1; }) ||
      llvm::any_of(strides, [](int64_t n) { return n < 1; }))
    return node.error("takes blocks [N, C * block, L] and lists of one length");
  int64_t taps = ShapedType::getNumElements(*block), channels = type.getDimSize(1) / taps, blocks = 1;
  SmallVector<int64_t> spatial, extra;
  for (size_t d = 0; d < count; ++d) {
    int64_t reach = dilations[d] * ((*block)[d] - 1) + 1, room = (*image)[d] + pads[d] + pads[count + d] - reach;
    if (room < 0)
      return node.error("the block does not fit the image");
    spatial.push_back(room / strides[d] + 1);
    extra.push_back(room % strides[d]);
    blocks *= spatial.back();
  }
  if (type.getDimSize(1) != channels * taps || blocks != type.getDimSize(2))
    return node.error("an input of shape " + shapeText(type.getShape()) + " does not hold " + Twine(blocks) +
                      " blocks of " + Twine(taps) + " elements per channel");
  SmallVector<int64_t> shape{type.getDimSize(0), channels * taps}, filter{channels * taps, 1};
  llvm::append_range(shape, spatial);
  llvm::append_range(filter, *block);
  std::vector<double> places(channels * taps * taps, 0.0);
  for (int64_t i = 0; i < channels * taps; ++i)
    places[i * taps + i % taps] = 1;
  OpBuilder &b = node.builder();
  Value weights = top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_places").str(),
                                      RankedTensorType::get(filter, type.getElementType()),
                                      top::fromDoubles(type.getElementType(), places));
  Value input = node.reshape("", node.input(0), shape);
  return input ? node.result<top::ConvTransposeOp>({input, weights},
                                                   {node.i64s("strides", strides), node.i64s("pads", pads),
                                                    node.i64s("dilations", dilations),
                                                    node.i64s("output_padding", extra), node.i64("group", channels)})
               : failure();
}

void registerCol2Im(Registry &registry) { registry.add("Col2Im", {18, kMaxOpset, 3, 3, importCol2Im}); }

} // namespace pto_mlir::onnx
