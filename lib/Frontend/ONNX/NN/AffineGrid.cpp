// AffineGrid: the coordinates of an image's pixels, moved by a matrix per batch, as a product. (The function body of
// the operator, ONNX 1.16 to 1.19, loses a batch of 1.)
#include "../Registry.h"
#include "pto_mlir/Support/ElementType.h"

using namespace mlir;

namespace pto_mlir::onnx {

/// Pixel `i` of `count` in [-1, 1]: the middle of a pixel, or with its first and last one on the border. Of a single
/// one on the border, onnxruntime takes the end.
static double coordinate(int64_t i, int64_t count, bool onBorder) {
  if (!onBorder)
    return double(2 * i + 1) / double(count) - 1;
  return count == 1 ? 1 : 2 * double(i) / double(count - 1) - 1;
}

/// [pixels, dimensions + 1]: the coordinates of each pixel, the innermost first, and 1.
static Value coordinates(Node &node, ArrayRef<int64_t> image, Type element, bool onBorder) {
  SmallVector<int64_t> counts(image);
  counts.push_back(static_cast<int64_t>(image.size()) + 1);
  if (!node.mayBuild(counts))
    return {};
  int64_t pixels = ShapedType::getNumElements(image);
  std::vector<double> values;
  values.reserve(pixels * counts.back());
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    int64_t rest = pixel;
    for (int64_t count : llvm::reverse(image)) {
      values.push_back(coordinate(rest % count, count, onBorder));
      rest /= count;
    }
    values.push_back(1);
  }
  OpBuilder &b = node.builder();
  return top::createConstant(b, b.getUnknownLoc(), (node.outputName() + "_pixels").str(),
                             RankedTensorType::get({pixels, counts.back()}, element),
                             top::fromDoubles(element, values));
}

static LogicalResult importAffineGrid(Node &node) {
  RankedTensorType theta = node.type(0);
  std::optional<SmallVector<int64_t>> size = node.ints(1, "size");
  if (!size)
    return failure();
  ArrayRef<int64_t> image = ArrayRef(*size).drop_front(std::min<size_t>(size->size(), 2));
  auto dims = static_cast<int64_t>(image.size());
  if (dims < 2 || dims > 3 || theta.getShape() != ArrayRef<int64_t>{size->front(), dims, dims + 1} ||
      llvm::any_of(image, [](int64_t extent) { return extent < 1; }))
    return node.error("takes matrices [N, 2, 3] for a size [N, C, H, W], or [N, 3, 4] for [N, C, D, H, W], got " +
                      shapeText(theta.getShape()) + " for " + shapeText(*size));
  if (!isa<FloatType>(theta.getElementType()))
    return node.error("takes matrices of floats");
  Value pixels = coordinates(node, image, theta.getElementType(), node.intAttr("align_corners", 0) != 0);
  Value moves = node.create<top::PermuteOp>("", node.input(0), {node.i64s("perm", {0, 2, 1})});
  Value grid = node.create<top::MatMulOp>("", {pixels, moves});
  SmallVector<int64_t> shape{size->front()};
  llvm::append_range(shape, image);
  shape.push_back(dims);
  return grid ? node.finish(node.reshape(node.outputName(), grid, shape)) : failure();
}

void registerAffineGrid(Registry &registry) { registry.add("AffineGrid", {20, kMaxOpset, 2, 2, importAffineGrid}); }

} // namespace pto_mlir::onnx
