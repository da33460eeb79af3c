// Col2Im: blocks added into an image, as a transposed convolution whose filters put one value each at its place.
#include "../Registry.h"
#include "Window.h"
#include "pto_mlir/Dialect/Top/IR/Layout.h"
#include "pto_mlir/Support/ElementType.h"
#include "pto_mlir/Support/WindowSize.h"
#include "llvm/Support/MathExtras.h"

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
  // Every value below 2^31, so that no extent of a window overflows.
  auto within = [](ArrayRef<int64_t> values, int64_t least) {
    return llvm::all_of(values, [&](int64_t n) { return n >= least && n <= INT32_MAX; });
  };
  if (type.getRank() != 3 || block->size() != count || dilations.size() != count || strides.size() != count ||
      pads.size() != 2 * count || !within(*image, 0) || !within(*block, 1) || !within(dilations, 1) ||
      !within(strides, 1) || !within(pads, 0))
    return node.error("takes blocks [N, C * block, L] and lists of one length, of values below 2^31");
  int64_t rows = type.getDimSize(1), taps = 1, blocks = 1;
  SmallVector<int64_t> spatial, extra;
  for (size_t d = 0; d < count; ++d) {
    int64_t begin = pads[d], end = pads[count + d], reach = dilations[d] * ((*block)[d] - 1) + 1;
    auto steps = windowOutputSize((*image)[d], (*block)[d], strides[d], dilations[d], begin, end, false);
    if (!steps)
      return node.error("the block does not fit the image");
    spatial.push_back(*steps);
    extra.push_back(((*image)[d] + begin + end - reach) % strides[d]);
    if (llvm::MulOverflow(taps, (*block)[d], taps) || llvm::MulOverflow(blocks, *steps, blocks) || taps > rows)
      break;
  }
  if (spatial.size() != count || taps > rows || rows % taps || blocks != type.getDimSize(2))
    return node.error("an input of shape " + shapeText(type.getShape()) + " does not hold the blocks of " +
                      shapeText(*block) + " of an image of " + shapeText(*image));
  int64_t channels = rows / taps;
  SmallVector<int64_t> shape{type.getDimSize(0), rows}, filter{rows, 1};
  llvm::append_range(shape, spatial);
  llvm::append_range(filter, *block);
  if (!node.mayBuild(filter))
    return failure();
  std::vector<double> places(rows * taps, 0.0);
  for (int64_t i = 0; i < rows; ++i)
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
