// MaxRoiPool: the maximum of each bin of each region, over rows and then over columns of the image; elements outside of
// the bin are hidden.
#include "../Composite.h"
#include "../Registry.h"
#include "AttentionParts.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// Elements that are looked at for all regions.
constexpr int64_t kMostElements = 1 << 28;

struct MaxRoiPool {
  Node &node;
  Formula f;
  ArrayRef<int64_t> shape; ///< of the images
  int64_t regions, bins[2];
  double scale;

  /// Column `i` of the regions, [regions, 1], in whole pixels; halves go away from zero.
  Value edge(int64_t i) {
    Value x = f.of<top::MulOp>(sliceDim(node, node.input(1), 1, i, i + 1), scale);
    Value size = f.of<top::FloorOp>(f.of<top::AddOp>(f.of<top::AbsOp>(x), 0.5));
    return castTo(node, f.of<top::MulOp>(f.of<top::SignOp>(x), size), node.builder().getI32Type());
  }

  /// Which pixels along `dim` (rows, columns) are in each bin, [regions, bins, pixels], and which bins have any,
  /// [regions, bins].
  std::pair<Value, Value> bin(int64_t dim) {
    int64_t count = bins[dim], pixels = shape[2 + dim];
    Value first = edge(2 - dim), extent = f.of<top::AddOp>(f.of<top::SubOp>(edge(4 - dim), first), 1.0);
    extent = f.of<top::MaxOp>(extent, 1.0);
    // The end rounds up.
    auto border = [&](int64_t from, double up) {
      Value at = f.of<top::MulOp>(extent, counting(node, count, {1, count}, from));
      at = f.of<top::DivOp>(f.of<top::AddOp>(at, up), static_cast<double>(count));
      at = f.of<top::AddOp>(first, at);
      return f.of<top::ClipOp>(at, {node.f64("min", 0), node.f64("max", static_cast<double>(pixels))});
    };
    Value begin = border(0, 0), end = border(1, static_cast<double>(count - 1));
    if (!begin || !end)
      return {};
    Value any = f.compare(begin, "lt", end);
    begin = node.reshape("", begin, {regions, count, 1}), end = node.reshape("", end, {regions, count, 1});
    Value pixel = counting(node, pixels, {1, 1, pixels});
    return {f.of<top::AndOp>(f.compare(pixel, "ge", begin), f.compare(pixel, "lt", end)), any};
  }

  /// The maximum over dimension `dim` of `value` where `mask` holds.
  Value greatest(Value value, Value mask, int64_t dim) {
    Value least = f.constant(value, -std::numeric_limits<double>::infinity());
    Value shown = value && mask ? f.where(mask, value, least) : Value();
    return shown ? f.of<top::ReduceMaxOp>(shown, {node.i64s("axes", dim), node.flag("keepdims", false)}) : shown;
  }

  LogicalResult run() {
    int64_t images = shape[0], channels = shape[1], rows = shape[2], columns = shape[3];
    auto [inRows, anyRows] = bin(0);
    auto [inColumns, anyColumns] = bin(1);
    if (!inRows || !inColumns)
      return failure();
    Value image = f.of<top::ClipOp>(sliceDim(node, node.input(1), 1, 0, 1),
                                    {node.f64("min", 0), node.f64("max", static_cast<double>(images - 1))});
    image = castTo(node, image, node.builder().getI32Type());
    image = image ? node.reshape("", image, {regions}) : image;
    Value x = image ? node.create<top::GatherOp>("", {node.input(0), image}, {node.i64("axis", 0)}) : image;
    x = x ? node.reshape("", x, {regions, channels, 1, rows, columns}) : x;
    x = greatest(x, node.reshape("", inRows, {regions, 1, bins[0], rows, 1}), 3);
    x = x ? node.reshape("", x, {regions, channels, bins[0], 1, columns}) : x;
    x = greatest(x, node.reshape("", inColumns, {regions, 1, 1, bins[1], columns}), 4);
    Value any = f.of<top::AndOp>(node.reshape("", anyRows, {regions, 1, bins[0], 1}),
                                 node.reshape("", anyColumns, {regions, 1, 1, bins[1]}));
    return x && any ? f.choose(any, x, f.constant(x, 0)) : failure();
  }
};

LogicalResult importMaxRoiPool(Node &node) {
  RankedTensorType images = node.type(0), regions = node.type(1);
  if (images.getRank() != 4 || regions.getRank() != 2 || regions.getDimSize(1) != 5 ||
      !isa<FloatType>(images.getElementType()) || images.getElementType() != regions.getElementType())
    return node.error("expects images [N, C, H, W] and regions [R, 5] of one float type");
  std::optional<SmallVector<int64_t>> bins = node.intsAttr("pooled_shape");
  if (!bins || bins->size() != 2 || llvm::any_of(*bins, [](int64_t size) { return size < 1 || size > INT16_MAX; }))
    return node.error("attribute 'pooled_shape' must hold two positive values");
  if (images.getNumElements() == 0 || regions.getNumElements() == 0)
    return node.error("computes on an empty tensor");
  if (images.getNumElements() > kMostElements / ((*bins)[0] * regions.getDimSize(0)))
    return node.error("looks at more than " + Twine(kMostElements) + " elements for all regions");
  return MaxRoiPool{node,
                    Formula(node),
                    images.getShape(),
                    regions.getDimSize(0),
                    {(*bins)[0], (*bins)[1]},
                    node.floatAttr("spatial_scale", 1)}
      .run();
}

} // namespace

void registerMaxRoiPool(Registry &registry) { registry.add("MaxRoiPool", {7, kMaxOpset, 2, 2, importMaxRoiPool}); }

} // namespace pto_mlir::onnx
