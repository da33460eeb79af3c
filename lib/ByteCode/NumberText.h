// Floats as text that round-trips to the same bits.
#ifndef PTO_MLIR_LIB_BYTECODE_NUMBERTEXT_H
#define PTO_MLIR_LIB_BYTECODE_NUMBERTEXT_H

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pto_mlir::bytecode {

/// The shortest decimal with a point or an exponent ("3.0", "1e-05"); infinities and NaNs as bits:
/// "0x7ff0000000000000".
inline std::string floatText(double value) {
  char buffer[40];
  if (!std::isfinite(value)) {
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, std::bit_cast<uint64_t>(value), 16);
    return "0x" + std::string(buffer, end);
  }
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// Parses the output of floatText, and any decimal.
inline std::optional<double> parseFloat(std::string_view text) {
  if (text.starts_with("0x")) {
    uint64_t bits = 0;
    auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    bool good = error == std::errc() && end == text.data() + text.size();
    return good ? std::optional(std::bit_cast<double>(bits)) : std::nullopt;
  }
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool good = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return good ? std::optional(value) : std::nullopt;
}

} // namespace pto_mlir::bytecode

#endif
