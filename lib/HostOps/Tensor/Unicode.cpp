#include "Unicode.h"

#include <clocale>
#include <cwctype>

namespace pto_mlir::hostops {

uint32_t takeCharacter(std::string_view &text) {
  unsigned length = utf8SequenceLength(text);
  auto byte = [&](unsigned i) { return uint32_t(static_cast<unsigned char>(text[i])); };
  uint32_t character = length == 0 ? kNoCharacter : length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
  for (unsigned i = 1; i < length; ++i)
    character = character << 6 | (byte(i) & 0x3f);
  text.remove_prefix(length == 0 ? 1 : length);
  return character;
}

void addCharacter(std::string &text, uint32_t character) {
  auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (character < 0x80)
    return add(character);
  if (character < 0x800) {
    add(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      add(0xe0 | character >> 12);
    } else {
      add(0xf0 | character >> 18);
      add(0x80 | (character >> 12 & 0x3f));
    }
    add(0x80 | (character >> 6 & 0x3f));
  }
  add(0x80 | (character & 0x3f));
}

static locale_t unicodeLocale() {
  static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return made;
}

bool knowsCases() { return unicodeLocale() != nullptr; }

uint32_t lowerCase(uint32_t character) {
  if (character < 0x80)
    return character >= 'A' && character <= 'Z' ? character + 32 : character;
  return character == kNoCharacter || !knowsCases() ? character
                                                    : uint32_t(towlower_l(wint_t(character), unicodeLocale()));
}

uint32_t upperCase(uint32_t character) {
  if (character < 0x80)
    return character >= 'a' && character <= 'z' ? character - 32 : character;
  return character == kNoCharacter || !knowsCases() ? character
                                                    : uint32_t(towupper_l(wint_t(character), unicodeLocale()));
}

bool isSpace(uint32_t character) {
  switch (character) {
  case ' ':
  case 0x85:
  case 0xa0:
  case 0x1680:
  case 0x2028:
  case 0x2029:
  case 0x202f:
  case 0x205f:
  case 0x3000:
    return true;
  default:
    return (character >= 0x09 && character <= 0x0d) || (character >= 0x1c && character <= 0x1f) ||
           (character >= 0x2000 && character <= 0x200a);
  }
}

} // namespace pto_mlir::hostops
