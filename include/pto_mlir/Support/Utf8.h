// Validation of UTF-8, and escapes for malformed text.
#ifndef PTO_MLIR_SUPPORT_UTF8_H
#define PTO_MLIR_SUPPORT_UTF8_H

#include <string>
#include <string_view>

namespace pto_mlir {

/// Bytes of the well-formed UTF-8 sequence at the start of `text`, 1 to 4; 0 when there is none.
unsigned utf8SequenceLength(std::string_view text);
/// Whether the whole text is well-formed UTF-8: no overlong sequences, surrogates or codes above U+10FFFF.
bool isUtf8(std::string_view text);
/// The text with each byte outside a well-formed sequence escaped as `\xNN`.
std::string escapeNonUtf8(std::string_view text);

} // namespace pto_mlir

#endif
