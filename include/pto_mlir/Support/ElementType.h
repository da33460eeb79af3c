// Element types of tensors as a .pmodel stores them; the numbers up to f64 are those of the ISA, the others the host's.
#ifndef PTO_MLIR_SUPPORT_ELEMENTTYPE_H
#define PTO_MLIR_SUPPORT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir {

enum class ElementType : uint8_t {
  F32 = 0,
  F16 = 1,
  BF16 = 2,
  I8 = 3,
  U8 = 4,
  I16 = 5,
  U16 = 6,
  I32 = 7,
  U32 = 8,
  I64 = 9,
  U64 = 10,
  F8E4M3FN = 11,
  F8E5M2 = 12,
  HIF8 = 13,
  F4E2M1 = 14,
  F4E1M2 = 15,
  I4 = 16,
  F64 = 17,
  Boolean = 18,
  U4 = 19,
  I2 = 20,
  U2 = 21,
  F8E4M3FNUZ = 22,
  F8E5M2FNUZ = 23,
  F8E8M0 = 24,
  String = 25, ///< a number of 64 bits in the table of a run (HostOps/Strings.h)
};
constexpr unsigned numElementTypes = 26;

/// The name in the schema's spelling: "f32", "i8", "boolean", ...
std::string_view elementTypeName(ElementType type);
/// The type with that name; nullopt when there is none.
std::optional<ElementType> parseElementType(std::string_view name);
/// Storage bits of one element (8 for boolean). Elements of fewer bits lie in bytes, the first in the lowest bits.
constexpr unsigned elementBits(ElementType type) {
  switch (type) {
  case ElementType::I64:
  case ElementType::U64:
  case ElementType::F64:
  case ElementType::String:
    return 64;
  case ElementType::F32:
  case ElementType::I32:
  case ElementType::U32:
    return 32;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
  case ElementType::U16:
    return 16;
  case ElementType::F4E2M1:
  case ElementType::F4E1M2:
  case ElementType::I4:
  case ElementType::U4:
    return 4;
  case ElementType::I2:
  case ElementType::U2:
    return 2;
  default:
    return 8;
  }
}
/// Whether several elements share a byte.
constexpr bool isPacked(ElementType type) { return elementBits(type) < 8; }

/// Bytes of a dense tensor, rounded up to whole bytes; nullopt when the product exceeds 2^62.
std::optional<uint64_t> tensorBytes(ElementType type, const std::vector<uint64_t> &shape);
/// Number of elements; nullopt when the product exceeds 2^62.
std::optional<uint64_t> numElements(const std::vector<uint64_t> &shape);
/// A shape as text: "1x3x48x192", "scalar" for rank 0.
std::string shapeText(std::span<const uint64_t> shape);
std::string shapeText(std::span<const int64_t> shape);

} // namespace pto_mlir

#endif
