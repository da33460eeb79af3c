// GridSample: pixels at computed coordinates, as rows of channels gathered for each tap of the interpolation.
#include "../Registry.h"
#include "../Tensor/Positions.h"
#include "Sampling.h"

using namespace mlir;

namespace pto_mlir::onnx {

namespace {

enum class Outside { zeros, border, reflection };

class GridSample {
public:
  GridSample(Node &node, Outside outside, bool alignCorners)
      : node(node), f(node), outside(outside), alignCorners(alignCorners), shape(node.type(0).getShape()),
        grid(node.type(1).getShape()), wide(widerOf(node.type(0).getElementType(), node.type(1).getElementType())),
        points(ShapedType::getNumElements(grid.slice(1, grid.size() - 2))) {}

  LogicalResult run(StringRef mode) {
    int64_t rank = static_cast<int64_t>(shape.size()) - 2, pixels = ShapedType::getNumElements(shape.drop_front(2));
    Value rows = channelRows(node, castTo(node, node.input(0), wide));
    std::vector<std::vector<Tap>> taps;
    taps.reserve(rank);
    for (int64_t d = 0; d < rank; ++d)
      taps.push_back(tapsOf(d, mode));
    Value sum = sampleRows(node, rows, rangeAlong(node, 3, 0, shape[0], pixels), taps, shape.drop_front(2));
    if (!sum)
      return failure();
    SmallVector<int64_t> spread{shape[0]};
    llvm::append_range(spread, grid.slice(1, rank));
    spread.push_back(shape[1]);
    Value out = node.reshape("", sum, spread);
    SmallVector<int64_t> back{0, rank + 1};
    llvm::append_range(back, llvm::seq<int64_t>(1, rank + 1));
    Type element = node.type(0).getElementType();
    StringRef name = wide == element ? node.outputName() : StringRef();
    out = out ? node.create<top::PermuteOp>(name, out, {node.i64s("perm", back)}) : out;
    return node.finish(castTo(node, out, element, node.outputName()));
  }

private:
  /// The type of an image and a grid of two float types: the wider one, f32 for two of 16 bits.
  static Type widerOf(Type a, Type b) {
    unsigned bits = std::max(a.getIntOrFloatBitWidth(), b.getIntOrFloatBitWidth());
    if (a == b)
      return a;
    return bits == 64 ? Type(Float64Type::get(a.getContext())) : Type(Float32Type::get(a.getContext()));
  }

  int64_t sizeOf(int64_t dim) const { return shape[2 + dim]; }

  /// Where the grid's points lie along `dim`, in pixels: [N, points, 1].
  Value coordinates(int64_t dim) {
    SmallVector<int64_t> starts(grid.size(), 0), ends(grid), steps(grid.size(), 1);
    starts.back() = static_cast<int64_t>(shape.size()) - 3 - dim; // x, the last dimension, comes first
    ends.back() = starts.back() + 1;
    Value x =
        node.create<top::SliceOp>("", castTo(node, node.input(1), wide),
                                  {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
    x = x ? node.reshape("", x, {shape[0], points, 1}) : x;
    double size = static_cast<double>(sizeOf(dim));
    return alignCorners
               ? f.of<top::MulOp>(f.of<top::AddOp>(x, 1.0), (size - 1) / 2)
               : f.of<top::MulOp>(f.of<top::SubOp>(f.of<top::MulOp>(f.of<top::AddOp>(x, 1.0), size), 1.0), 0.5);
  }

  /// Back and forth between the borders of the image.
  Value reflected(Value x, int64_t dim) {
    double low = alignCorners ? 0 : -0.5, span = static_cast<double>(sizeOf(dim)) - (alignCorners ? 1 : 0);
    if (span == 0)
      return f.of<top::MulOp>(x, 0.0);
    Value distance = f.of<top::AbsOp>(f.of<top::SubOp>(x, low));
    Value rounds = f.of<top::FloorOp>(f.of<top::DivOp>(distance, 2 * span));
    Value rest = f.of<top::SubOp>(distance, f.of<top::MulOp>(rounds, 2 * span));
    return f.of<top::SubOp>(f.constant(x, low + span), f.of<top::AbsOp>(f.of<top::SubOp>(rest, span)));
  }

  Value inside(Value x, int64_t dim) {
    return f.of<top::MinOp>(f.of<top::MaxOp>(x, 0.0), static_cast<double>(sizeOf(dim) - 1));
  }

  /// A pixel of the image in place of `position`; where there is none its weight is 0.
  Tap tap(Value position, Value weight, int64_t dim) {
    if (!position)
      return {};
    if (outside == Outside::reflection)
      position = reflected(position, dim);
    Value pixel = inside(position, dim);
    if (outside == Outside::zeros) {
      Value same = f.compare(position, "eq", pixel);
      weight = f.where(same, weight ? weight : f.constant(position, 1), f.constant(position, 0));
    }
    return {pixel, weight};
  }

  std::vector<Tap> tapsOf(int64_t dim, StringRef mode) {
    Value x = coordinates(dim);
    if (outside == Outside::reflection)
      x = reflected(x, dim);
    if (mode == "nearest")
      return {tap(f.of<top::RoundOp>(x), Value(), dim)};
    Value first = f.of<top::FloorOp>(x), t = f.of<top::SubOp>(x, first);
    if (mode == "linear")
      return {tap(first, f.of<top::SubOp>(f.constant(t, 1), t), dim), tap(f.of<top::AddOp>(first, 1.0), t, dim)};
    // Cubic convolution with a = -0.75 (R. Keys, 1981): distances 1 + t, t, 1 - t, 2 - t.
    std::vector<Tap> taps;
    Value rest = f.of<top::SubOp>(f.constant(t, 1), t);
    Value weights[] = {far(f.of<top::AddOp>(t, 1.0)), near(t), near(rest), far(f.of<top::AddOp>(rest, 1.0))};
    for (auto [i, weight] : llvm::enumerate(weights))
      taps.push_back(tap(f.of<top::AddOp>(first, double(i) - 1), weight, dim));
    return taps;
  }

  static constexpr double kA = -0.75;
  /// ((a + 2) d - (a + 3)) d^2 + 1
  Value near(Value d) {
    Value line = f.of<top::SubOp>(f.of<top::MulOp>(d, kA + 2), kA + 3);
    return f.of<top::AddOp>(f.of<top::MulOp>(f.of<top::MulOp>(line, d), d), 1.0);
  }
  /// ((a d - 5 a) d + 8 a) d - 4 a
  Value far(Value d) {
    Value line = f.of<top::SubOp>(f.of<top::MulOp>(d, kA), 5 * kA);
    line = f.of<top::AddOp>(f.of<top::MulOp>(line, d), 8 * kA);
    return f.of<top::SubOp>(f.of<top::MulOp>(line, d), 4 * kA);
  }

  Node &node;
  Formula f;
  Outside outside;
  bool alignCorners;
  ArrayRef<int64_t> shape, grid;
  Type wide;
  int64_t points;
};

} // namespace

// Of an image without elements: nothing, or the zeros outside of it.
static LogicalResult ofNoPixels(Node &node, Outside outside) {
  RankedTensorType image = node.type(0);
  SmallVector<int64_t> shape(image.getShape().take_front(2));
  llvm::append_range(shape, node.type(1).getShape().drop_front().drop_back());
  if (llvm::is_contained(shape, 0)) {
    node.setEmpty(0, shape, image.getElementType());
    return success();
  }
  if (outside != Outside::zeros)
    return node.error("an input of shape " + shapeText(image.getShape()) + " has no element at its border");
  if (!top::tensorBytes(RankedTensorType::get(shape, image.getElementType())))
    return node.error("a result of shape " + shapeText(shape) + " is too large");
  OpBuilder &b = node.builder();
  Value zero = top::createConstant(b, b.getUnknownLoc(), "", RankedTensorType::get({}, image.getElementType()),
                                   top::fromDoubles(image.getElementType(), {0.0}));
  return node.result<top::ExpandOp>(zero, node.i64s("shape", shape));
}

static LogicalResult importGridSample(Node &node) {
  ArrayRef<int64_t> shape = node.type(0).getShape(), grid = node.type(1).getShape();
  std::string mode = node.stringAttr("mode", node.opset() >= 20 ? "linear" : "bilinear"),
              padding = node.stringAttr("padding_mode", "zeros");
  bool align = node.intAttr("align_corners", 0) != 0;
  if (shape.size() < 3 || grid.size() != shape.size() || grid.front() != shape.front() ||
      grid.back() != static_cast<int64_t>(shape.size()) - 2)
    return node.error("a grid of shape " + shapeText(grid) + " does not fit an input of shape " + shapeText(shape));
  Type element = node.type(0).getElementType();
  if (!isa<FloatType>(element) || !isa<FloatType>(node.type(1).getElementType()))
    return node.error("takes an input and a grid of floats");
  StringRef name = StringRef(mode);
  if (name.starts_with("bi"))
    name = name.drop_front(2);
  if (name != "linear" && name != "nearest" && name != "cubic")
    return node.error("attribute 'mode' = '" + mode + "' is not known");
  if (name == "cubic" && shape.size() != 4)
    return node.error("cubic interpolation takes images of two dimensions");
  auto outside = llvm::StringSwitch<std::optional<Outside>>(padding)
                     .Case("zeros", Outside::zeros)
                     .Case("border", Outside::border)
                     .Case("reflection", Outside::reflection)
                     .Default(std::nullopt);
  if (!outside)
    return node.error("attribute 'padding_mode' = '" + padding + "' is not known");
  if (llvm::is_contained(shape, 0))
    return ofNoPixels(node, *outside);
  return GridSample(node, *outside, align).run(name);
}

void registerGridSample(Registry &registry) {
  registry.add("GridSample", {16, kMaxOpset, 2, 2, importGridSample});
  registry.add("com.microsoft.GridSample", {1, 1, 2, 2, importGridSample});
}

} // namespace pto_mlir::onnx
