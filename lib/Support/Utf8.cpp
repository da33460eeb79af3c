#include "pto_mlir/Support/Utf8.h"

#include <cstdint>

namespace pto_mlir {

unsigned utf8SequenceLength(std::string_view text) {
  if (text.empty())
    return 0;
  unsigned char lead = text[0];
  unsigned length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (length == 0 || length > text.size())
    return 0;
  uint32_t code = length == 1 ? lead : lead & (0x7f >> length);
  for (unsigned k = 1; k < length; ++k) {
    unsigned char next = text[k];
    if (next >> 6 != 2)
      return 0;
    code = code << 6 | (next & 0x3f);
  }
  constexpr uint32_t shortest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool isSurrogate = code >= 0xd800 && code < 0xe000;
  return code < shortest[length] || code > 0x10ffff || isSurrogate ? 0 : length;
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    unsigned length = utf8SequenceLength(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string escapeNonUtf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    unsigned length = utf8SequenceLength(text);
    if (length == 0) {
      constexpr char digits[] = "0123456789abcdef";
      unsigned char byte = text[0];
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      length = 1;
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return result;
}

} // namespace pto_mlir
