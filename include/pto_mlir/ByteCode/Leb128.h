// Unsigned LEB128, the number format of VM bytecode.
#ifndef PTO_MLIR_BYTECODE_LEB128_H
#define PTO_MLIR_BYTECODE_LEB128_H

#include <cstdint>
#include <optional>
#include <vector>

namespace pto_mlir::bytecode {

/// Appends the shortest encoding of `value`.
inline void writeLeb128(std::vector<uint8_t> &code, uint64_t value) {
  do {
    uint8_t byte = value & 0x7f;
    value >>= 7;
    code.push_back(value ? byte | 0x80 : byte);
  } while (value);
}

/// Reads the number at `position` and advances it. Nullopt when the code is truncated, the value exceeds 64 bits, or
/// the encoding is not the shortest (a canonical encoding makes equal programs equal bytes).
inline std::optional<uint64_t> readLeb128(const std::vector<uint8_t> &code, uint64_t &position) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position >= code.size())
      return std::nullopt;
    uint8_t byte = code[position++];
    if (shift == 63 && byte > 1)
      return std::nullopt;
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return byte == 0 && shift != 0 ? std::nullopt : std::optional<uint64_t>(value);
  }
  return std::nullopt;
}

} // namespace pto_mlir::bytecode

#endif
