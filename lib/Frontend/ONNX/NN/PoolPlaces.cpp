// The places of the maxima that MaxPool names, and MaxUnpool, which puts elements back to such places.
#include "PoolPlaces.h"

#include "../Registry.h"
#include "pto_mlir/Support/ElementType.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace pto_mlir::onnx {
namespace {

/// Each tap of the window is compared with the maximum, and has a table of places.
constexpr int64_t kMostOfWindow = 1024, kMostOfTable = 1 << 26;

ArrayRef<int64_t> shapeOfPool(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// i64 numbers that `number` makes of each place of a tensor of the shape.
Value places(Node &node, ArrayRef<int64_t> shape, function_ref<int64_t(ArrayRef<int64_t>)> number) {
  std::vector<int64_t> values;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = ShapedType::getNumElements(shape); i > 0; --i) {
    values.push_back(number(index));
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
  OpBuilder &b = node.builder();
  return top::createConstant(b, b.getUnknownLoc(), "places", RankedTensorType::get(shape, b.getI64Type()),
                             top::fromInts(b.getI64Type(), values));
}

/// Less than, or as small as, every number of the type.
double least(Type element) {
  if (isa<FloatType>(element))
    return -std::numeric_limits<double>::infinity();
  return element.isUnsignedInteger() ? 0 : -std::ldexp(1.0, int(element.getIntOrFloatBitWidth()) - 1);
}

} // namespace

Value maximumPlaces(Node &node, StringRef name, Value maxima, ArrayRef<int64_t> kernel, const Window &window,
                    bool columnsFirst) {
  ArrayRef<int64_t> in = node.type(0).getShape(), out = shapeOfPool(maxima), size = in.drop_front(2);
  size_t rank = size.size();
  int64_t taps = 1, channels = in[1], pixels = ShapedType::getNumElements(size);
  for (int64_t count : kernel)
    if (llvm::MulOverflow(taps, count, taps) || taps > kMostOfWindow)
      return (void)node.error("finds maxima in windows of at most " + Twine(kMostOfWindow) + " elements"), Value();
  if (ShapedType::getNumElements(out.drop_front(2)) > kMostOfTable / taps || in[0] * channels > kMostOfTable)
    return (void)node.error("finds maxima in images of at most " + Twine(kMostOfTable / taps) + " pixels"), Value();
  SmallVector<int64_t> pads(2 * in.size(), 0), strides(rank, 1), one{1, 1};
  for (size_t d = 0; d < rank; ++d) {
    int64_t reach = (out[2 + d] - 1) * window.strides[d] + (kernel[d] - 1) * window.dilations[d] + 1;
    pads[2 + d] = window.pads[d];
    pads[in.size() + 2 + d] = std::max<int64_t>(reach - size[d] - window.pads[d], 0);
  }
  for (size_t i = 1; i < rank; ++i) // of the dimensions of a pixel's number
    columnsFirst ? void(strides[i] = strides[i - 1] * size[i - 1])
                 : void(strides[rank - 1 - i] = strides[rank - i] * size[rank - i]);
  llvm::append_range(one, out.drop_front(2));
  Formula f(node);
  Value padded = f.of<top::PadOp>(node.input(0),
                                  {node.i64s("pads", pads), node.f64("value", least(node.type(0).getElementType()))});
  Value found;
  for (int64_t tap = taps; tap-- > 0;) { // the first one counts
    SmallVector<int64_t> at(rank), starts(in.size(), 0), ends(out), steps(in.size(), 1);
    for (size_t d = rank, rest = tap; d-- > 0; rest /= kernel[d])
      at[d] = int64_t(rest) % kernel[d] * window.dilations[d];
    for (size_t d = 0; d < rank; ++d) {
      starts[2 + d] = at[d], steps[2 + d] = window.strides[d];
      ends[2 + d] = at[d] + (out[2 + d] - 1) * window.strides[d] + 1;
    }
    Value numbers = places(node, one, [&](ArrayRef<int64_t> index) {
      int64_t number = 0;
      for (size_t d = 0; d < rank; ++d)
        number +=
            strides[d] * std::clamp<int64_t>(index[2 + d] * window.strides[d] + at[d] - window.pads[d], 0, size[d] - 1);
      return number;
    });
    Value own =
        f.of<top::SliceOp>(padded, {node.i64s("starts", starts), node.i64s("ends", ends), node.i64s("steps", steps)});
    found = found ? f.where(f.compare(own, "eq", maxima), numbers, found) : numbers;
    if (!own || !found)
      return {};
  }
  SmallVector<int64_t> plane(in.size(), 1);
  plane[0] = in[0], plane[1] = channels;
  Value first = places(node, plane, [&](ArrayRef<int64_t> i) { return (i[0] * channels + i[1]) * pixels; });
  return node.create<top::AddOp>(name, {found, first});
}

static LogicalResult importMaxUnpool(Node &node) {
  RankedTensorType type = node.type(0);
  if (type.getRank() < 3 || node.type(1).getShape() != type.getShape())
    return node.error("takes an input of rank 3 and more and indices of its shape");
  std::optional<SmallVector<int64_t>> kernel = node.intsAttr("kernel_shape");
  if (!kernel || int64_t(kernel->size()) != type.getRank() - 2)
    return node.error("attribute 'kernel_shape' must hold " + Twine(type.getRank() - 2) + " values");
  std::optional<Window> window = readWindow(node, *kernel, /*hasDilations=*/false);
  if (!window)
    return failure();
  // Places are those in this shape; a greater one is filled with zeros.
  SmallVector<int64_t> shape(type.getShape()), wanted;
  int64_t rows = shape[0] * shape[1];
  for (size_t d = 0; d < kernel->size(); ++d) {
    int64_t &size = shape[2 + d];
    size = (size - 1) * window->strides[d] + (*kernel)[d] - window->pads[d] - window->pads[kernel->size() + d];
    if (size < 1 || llvm::MulOverflow(rows, size, rows) || rows > INT32_MAX)
      return node.error("the result is empty or too large");
  }
  wanted = shape;
  if (node.has(2)) {
    std::optional<SmallVector<int64_t>> given = node.ints(2, "output_shape");
    if (!given)
      return failure();
    wanted = *given;
  }
  SmallVector<int64_t> pads(2 * shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d)
    if (wanted.size() != shape.size() || wanted[d] < shape[d] || wanted[d] > INT32_MAX)
      return node.error("an output_shape holds at least " + shapeText(shape));
    else
      pads[shape.size() + d] = wanted[d] - shape[d];
  Formula f(node);
  int64_t count = type.getNumElements();
  bool isPadded = wanted != shape;
  Value updates = node.reshape("", node.input(0), {count, 1}), at = node.reshape("", node.input(1), {count});
  Value zeros =
      updates ? node.create<top::ExpandOp>("", f.constant(updates, 0), {node.i64s("shape", {rows, 1})}) : updates;
  Value value = zeros && at ? node.create<top::ScatterOp>("", {zeros, at, updates}) : Value();
  value = value ? node.reshape(isPadded ? "" : node.outputName(), value, shape) : value;
  return isPadded && value ? node.result<top::PadOp>(value, {node.i64s("pads", pads)}) : node.finish(value);
}

void registerPoolPlaces(Registry &registry) { registry.add("MaxUnpool", {9, kMaxOpset, 2, 3, importMaxUnpool}); }

} // namespace pto_mlir::onnx
