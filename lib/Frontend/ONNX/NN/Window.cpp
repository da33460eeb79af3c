#include "Window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pto_mlir::onnx {

std::optional<Window> readWindow(Node &node, ArrayRef<int64_t> kernel, bool hasDilations, unsigned firstDim) {
  size_t count = kernel.size();
  bool ok = true;
  auto read = [&](StringRef name, size_t expected, int64_t otherwise, int64_t least) {
    SmallVector<int64_t> values = node.intsAttr(name).value_or(SmallVector<int64_t>(expected, otherwise));
    if (values.size() != expected || llvm::any_of(values, [&](int64_t v) { return v < least || v > INT32_MAX; })) {
      (void)node.error("attribute '" + name + "' must hold " + Twine(expected) + " values of at least " + Twine(least));
      ok = false;
    }
    return values;
  };
  for (int64_t size : kernel)
    if (size < 1 || size > INT32_MAX) {
      (void)node.error("attribute 'kernel_shape' must hold values of at least 1");
      ok = false;
    }
  Window window;
  window.strides = read("strides", count, 1, 1);
  window.dilations = hasDilations ? read("dilations", count, 1, 1) : SmallVector<int64_t>(count, 1);
  std::string autoPad = node.stringAttr("auto_pad", "NOTSET");
  bool explicitPads = node.attr("pads");
  window.pads = read("pads", 2 * count, 0, 0);
  if (!ok || node.hasErrors())
    return std::nullopt;
  if (autoPad == "NOTSET" || autoPad.empty())
    return window;
  if (autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER" && autoPad != "VALID") {
    (void)node.error("attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, not '" + autoPad + "'");
    return std::nullopt;
  }
  if (explicitPads && llvm::any_of(window.pads, [](int64_t pad) { return pad != 0; })) {
    (void)node.error("has both 'pads' and 'auto_pad'");
    return std::nullopt;
  }
  if (autoPad == "VALID")
    return window;
  for (size_t i = 0; i < count; ++i) {
    int64_t in = node.type(0).getDimSize(firstDim + i), out = llvm::divideCeil(in, window.strides[i]);
    int64_t total =
        std::max<int64_t>((out - 1) * window.strides[i] + window.dilations[i] * (kernel[i] - 1) + 1 - in, 0);
    window.pads[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.pads[count + i] = total - window.pads[i];
  }
  return window;
}

bool isBetweenWindows(Node &node, const Window &window, ArrayRef<int64_t> kernel, int64_t channels, unsigned outputs) {
  RankedTensorType input = node.type(0);
  SmallVector<int64_t> shape{input.getDimSize(0), channels};
  for (auto [i, size] : llvm::enumerate(kernel)) {
    int64_t padded = input.getDimSize(2 + i) + window.pads[i] + window.pads[kernel.size() + i];
    int64_t room = padded - window.dilations[i] * (size - 1) - 1;
    if (room < -1 || (room < 0 && window.strides[i] != 1))
      return false;
    shape.push_back(room < 0 ? 0 : room / window.strides[i] + 1);
  }
  if (input.getNumElements() != 0 || !llvm::is_contained(ArrayRef(shape).drop_front(2), 0))
    return false;
  node.setEmpty(0, shape, input.getElementType());
  if (outputs > 1)
    node.setEmpty(1, shape, node.builder().getI64Type());
  return true;
}

Value channelsLast(Node &node, StringRef name, Value value) {
  if (!value)
    return value;
  SmallVector<int64_t> perm{0};
  llvm::append_range(perm, llvm::seq<int64_t>(2, cast<RankedTensorType>(value.getType()).getRank()));
  perm.push_back(1);
  return node.create<top::PermuteOp>(name, value, {node.i64s("perm", perm)});
}

Value channelsFirst(Node &node, StringRef name, Value value) {
  if (!value)
    return value;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  SmallVector<int64_t> perm{0, rank - 1};
  llvm::append_range(perm, llvm::seq<int64_t>(1, rank - 1));
  return node.create<top::PermuteOp>(name, value, {node.i64s("perm", perm)});
}

} // namespace pto_mlir::onnx
