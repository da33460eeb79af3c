#include "Inference.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"
#include "pto_mlir/Support/WindowSize.h"

#include "llvm/ADT/StringExtras.h"

namespace pto_mlir::top {

std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  llvm::SmallVector<int64_t> result(std::max(a.size(), b.size()), 1);
  for (auto shape : {a, b}) {
    size_t offset = result.size() - shape.size();
    for (auto [i, size] : llvm::enumerate(shape)) {
      int64_t &out = result[offset + i];
      if (size == 1 || size == out)
        continue;
      if (out != 1)
        return std::nullopt;
      out = size;
    }
  }
  return result;
}

std::optional<llvm::SmallVector<int64_t>> inferWindow(llvm::ArrayRef<int64_t> spatial, llvm::ArrayRef<int64_t> kernel,
                                                      llvm::ArrayRef<int64_t> strides,
                                                      llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> pads,
                                                      bool ceil, std::string &message) {
  size_t rank = spatial.size();
  auto check = [&](llvm::StringRef what, llvm::ArrayRef<int64_t> values, size_t count, int64_t least) {
    if (values.size() != count)
      message = llvm::formatv("expects {0} values in {1}, got {2}", count, what, values.size());
    else if (llvm::any_of(values, [&](int64_t v) { return v < least || v > INT32_MAX; }))
      message = llvm::formatv("expects every value in {0} to be at least {1}", what, least);
    return message.empty();
  };
  if (!check("kernel", kernel, rank, 1) || !check("strides", strides, rank, 1) ||
      !check("dilations", dilations, rank, 1) || !check("pads", pads, 2 * rank, 0))
    return std::nullopt;
  llvm::SmallVector<int64_t> result;
  for (size_t i = 0; i < rank; ++i) {
    auto out = windowOutputSize(spatial[i], kernel[i], strides[i], dilations[i], pads[i], pads[rank + i], ceil);
    if (!out) {
      message = llvm::formatv("kernel of {0} (dilation {1}) does not fit the padded size {2} in spatial dimension {3}",
                              kernel[i], dilations[i], spatial[i] + pads[i] + pads[rank + i], i);
      return std::nullopt;
    }
    result.push_back(*out);
  }
  return result;
}

/// What is wrong with the types of a product of quantised operands; empty if nothing is.
static std::string whyNotQuantised(mlir::RankedTensorType left, mlir::RankedTensorType right, int64_t columns,
                                   mlir::Value bias, std::optional<mlir::Type> to) {
  auto leftType = quantisedElement(left), rightType = quantisedElement(right);
  if (!leftType || !rightType)
    return "expects both operands or none of a quantised type, got " + mlir::debugString(left.getElementType()) +
           " and " + mlir::debugString(right.getElementType());
  if (quantParameters(leftType).axis)
    return "expects one scale for the whole left operand, got " + mlir::debugString(leftType);
  QuantParameters weights = quantParameters(rightType);
  if (weights.axis && *weights.axis != columns)
    return llvm::formatv("expects the scales of the right operand along dimension {0}, which makes the result's "
                         "columns, got them along {1}",
                         columns, *weights.axis);
  if (llvm::any_of(weights.zeroPoints, [](int64_t zero) { return zero != 0; }))
    return "expects a right operand without zero points, got " + mlir::debugString(rightType) +
           "; shift the weights so that 0 is stored as 0";
  auto result = to ? quantisedElement(*to) : mlir::quant::QuantizedType();
  if (!result || !isTopQuantised(result) || quantParameters(result).axis)
    return "expects 'to' to be a quantised type of 8 bits with one scale, the type of the result";
  if (bias && !mlir::getElementTypeOrSelf(bias.getType()).isSignlessInteger(32))
    return "expects a bias of i32, in units of the operands' scales, got " +
           mlir::debugString(mlir::getElementTypeOrSelf(bias.getType()));
  return "";
}

mlir::Type inferProductElement(mlir::RankedTensorType left, mlir::RankedTensorType right, int64_t columns,
                               mlir::Value bias, std::optional<mlir::Type> to, std::string &message) {
  mlir::Type element = left.getElementType();
  if (quantisedElement(left) || quantisedElement(right)) {
    message = whyNotQuantised(left, right, columns, bias, to);
    return message.empty() ? *to : mlir::Type();
  }
  if (element != right.getElementType())
    message = "expects operands of one element type, got " + mlir::debugString(element) + " and " +
              mlir::debugString(right.getElementType());
  else if (to && !(element.isSignlessInteger(8) && to->isSignlessInteger(32)))
    message =
        "expects 'to' with quantised operands, or i32 with operands of i8, got it with " + mlir::debugString(element);
  else
    return to.value_or(element);
  return nullptr;
}

} // namespace pto_mlir::top
