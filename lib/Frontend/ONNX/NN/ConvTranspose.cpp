// ConvTranspose: `output_shape` and `auto_pad` become pads and output padding.
#include "../Registry.h"
#include "Window.h"

using namespace mlir;

namespace pto_mlir::onnx {

// Splits the total padding in halves; the odd element goes to the end for SAME_UPPER, else to the beginning.
static void distribute(Window &window, size_t dim, int64_t total, bool moreAtEnd) {
  size_t count = window.strides.size();
  window.pads[dim] = moreAtEnd ? total / 2 : total - total / 2;
  window.pads[count + dim] = total - window.pads[dim];
}

static LogicalResult importConvTranspose(Node &node) {
  RankedTensorType input = node.type(0), filter = node.type(1);
  if (input.getRank() < 3 || filter.getRank() != input.getRank())
    return node.error("takes an input of rank 3 and more and a filter of the same rank, got ranks " +
                      Twine(input.getRank()) + " and " + Twine(filter.getRank()));
  ArrayRef<int64_t> kernel = filter.getShape().drop_front(2);
  size_t count = kernel.size();
  if (std::optional<SmallVector<int64_t>> given = node.intsAttr("kernel_shape");
      given && ArrayRef<int64_t>(*given) != kernel)
    return node.error("attribute 'kernel_shape' differs from the filter's shape");
  int64_t group = node.intAttr("group", 1);
  SmallVector<int64_t> extra = node.intsAttr("output_padding").value_or(SmallVector<int64_t>(count, 0));
  std::optional<SmallVector<int64_t>> wanted = node.intsAttr("output_shape");
  std::string autoPad = node.stringAttr("auto_pad", "NOTSET");
  std::optional<Window> window = readWindow(node, kernel, /*hasDilations=*/true);
  if (!window)
    return failure();
  if (extra.size() != count || llvm::any_of(extra, [](int64_t v) { return v < 0 || v > INT32_MAX; }))
    return node.error("attribute 'output_padding' must hold " + Twine(count) + " values of at least 0");
  if (wanted && wanted->size() == count + 2) // some exporters include N and C
    wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (wanted && wanted->size() != count)
    return node.error("attribute 'output_shape' must hold " + Twine(count) + " values");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  for (size_t i = 0; i < count && (wanted || same); ++i) {
    int64_t in = input.getDimSize(2 + i), stride = window->strides[i];
    int64_t out = wanted ? (*wanted)[i] : in * stride;
    if (out < 1 || out > INT32_MAX)
      return node.error("attribute 'output_shape' must hold positive values, got " + Twine(out));
    int64_t full = stride * (in - 1) + window->dilations[i] * (kernel[i] - 1) + 1 + extra[i];
    distribute(*window, i, std::max<int64_t>(full - out, 0), autoPad == "SAME_UPPER");
    // Output elements that no input contributes to are the bias alone.
    extra[i] += std::max<int64_t>(out - full, 0);
  }
  SmallVector<Value> operands{node.input(0), node.input(1)};
  if (node.has(2))
    operands.push_back(node.input(2));
  return node.result<top::ConvTransposeOp>(operands,
                                           {node.i64s("strides", window->strides), node.i64s("pads", window->pads),
                                            node.i64s("dilations", window->dilations),
                                            node.i64s("output_padding", extra), node.i64("group", group)});
}

void registerConvTranspose(Registry &registry) {
  registry.add("ConvTranspose", {7, kMaxOpset, 2, 3, importConvTranspose});
}

} // namespace pto_mlir::onnx
