#include "Inference.h"

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

} // namespace pto_mlir::top
