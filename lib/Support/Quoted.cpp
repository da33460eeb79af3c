#include "pto_mlir/Support/Quoted.h"

namespace pto_mlir {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char digits[] = "0123456789abcdef";
      result += {'\\', digits[byte >> 4], digits[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

} // namespace pto_mlir
