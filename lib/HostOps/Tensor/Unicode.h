// Characters of strings.
#ifndef PTO_MLIR_LIB_HOSTOPS_TENSOR_UNICODE_H
#define PTO_MLIR_LIB_HOSTOPS_TENSOR_UNICODE_H

#include "pto_mlir/Support/Utf8.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pto_mlir::hostops {

/// What stands for a byte that is in no character: no character is equal to it.
inline constexpr uint32_t kNoCharacter = UINT32_MAX;

/// Takes the first character off a text that is not empty; kNoCharacter for a byte outside of UTF-8.
uint32_t takeCharacter(std::string_view &text);
void addCharacter(std::string &text, uint32_t character);
/// Simple case mappings, one character to one; without the host's table of Unicode those of ASCII only.
uint32_t lowerCase(uint32_t character);
uint32_t upperCase(uint32_t character);
/// Whether the mappings above know Unicode.
bool knowsCases();
/// Unicode's White_Space and the separators of ASCII, as Python's str.isspace.
bool isSpace(uint32_t character);

} // namespace pto_mlir::hostops

#endif // PTO_MLIR_LIB_HOSTOPS_TENSOR_UNICODE_H
