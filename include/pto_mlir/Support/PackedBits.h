// Elements of 2 and 4 bits: packed into bytes, the first element in the lowest bits, as ONNX does; an odd count leaves
// the highest bits of the last byte 0.
#ifndef PTO_MLIR_SUPPORT_PACKEDBITS_H
#define PTO_MLIR_SUPPORT_PACKEDBITS_H

#include "pto_mlir/Support/MathExtras.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pto_mlir {

/// `count` elements of `width` bits as one byte each; signed ones are sign-extended. Byte is a type of one byte.
template <class Byte> std::vector<Byte> unpackBits(const Byte *packed, unsigned width, bool isSigned, size_t count) {
  std::vector<Byte> elements(count);
  unsigned perByte = 8 / width, mask = (1u << width) - 1;
  for (size_t i = 0; i < count; ++i) {
    unsigned value = (static_cast<uint8_t>(packed[i / perByte]) >> (i % perByte * width)) & mask;
    elements[i] = static_cast<Byte>(static_cast<uint8_t>(isSigned && (value >> (width - 1)) ? value | ~mask : value));
  }
  return elements;
}

/// The opposite: the lowest `width` bits of each of `count` bytes, written to ceil(count * width / 8) bytes at
/// `packed`.
template <class Byte, class Out> void packBits(const Byte *elements, unsigned width, size_t count, Out *packed) {
  unsigned perByte = 8 / width, mask = (1u << width) - 1;
  for (size_t at = 0; at < ceilDiv(count, perByte); ++at) {
    unsigned bits = 0;
    for (size_t i = at * perByte; i < count && i < (at + 1) * perByte; ++i)
      bits |= (static_cast<uint8_t>(elements[i]) & mask) << (i % perByte * width);
    packed[at] = static_cast<Out>(static_cast<uint8_t>(bits));
  }
}

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_PACKEDBITS_H
