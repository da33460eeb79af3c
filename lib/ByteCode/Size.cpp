#include "pto_mlir/ByteCode/Size.h"

#include <algorithm>

namespace pto_mlir::bytecode {

bool Size::isConstant() const {
  return std::all_of(terms.begin(), terms.end(), [](const SizeTerm &term) { return term.symbols.empty(); });
}

std::optional<int64_t> evaluate(const Size &size, std::span<const int64_t> symbols) {
  int64_t sum = 0;
  for (const SizeTerm &term : size.terms) {
    int64_t product = term.coefficient;
    for (uint32_t symbol : term.symbols)
      if (symbol >= symbols.size() || __builtin_mul_overflow(product, symbols[symbol], &product))
        return std::nullopt;
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

std::string sizeText(const Size &size, std::span<const std::string> names) {
  std::string text;
  for (const SizeTerm &term : size.terms) {
    std::string product;
    if (term.coefficient != 1 || term.symbols.empty())
      product = std::to_string(term.coefficient);
    for (uint32_t symbol : term.symbols)
      product += (product.empty() ? "" : "*") + (symbol < names.size() ? names[symbol] : "s" + std::to_string(symbol));
    text += (text.empty() ? "" : " + ") + product;
  }
  return text.empty() ? "0" : text;
}

std::string sizesText(std::span<const Size> sizes, std::span<const std::string> names) {
  std::string text;
  for (const Size &size : sizes)
    text += (text.empty() ? "" : ", ") + (size.terms.empty() ? "empty" : sizeText(size, names));
  return " scalars(" + text + ")";
}

} // namespace pto_mlir::bytecode
