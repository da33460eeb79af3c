#include "pto_mlir/Support/ElementType.h"

namespace pto_mlir {

namespace {
constexpr std::string_view names[numElementTypes] = {
    "f32",     "f16", "bf16",     "i8",     "u8",         "i16",        "u16",    "i32",   "u32",
    "i64",     "u64", "f8E4M3FN", "f8E5M2", "hif8",       "f4E2M1",     "f4E1M2", "i4",    "f64",
    "boolean", "u4",  "i2",       "u2",     "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E8M0", "string"};
constexpr uint64_t limit = uint64_t(1) << 62;
} // namespace

std::string_view elementTypeName(ElementType type) {
  auto index = static_cast<unsigned>(type);
  return index < numElementTypes ? names[index] : "unknown";
}

std::optional<ElementType> parseElementType(std::string_view name) {
  for (unsigned i = 0; i < numElementTypes; ++i)
    if (names[i] == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

std::optional<uint64_t> numElements(const std::vector<uint64_t> &shape) {
  uint64_t product = 1;
  for (uint64_t size : shape)
    if (size == 0)
      return 0;
  for (uint64_t size : shape) {
    if (size > limit / product)
      return std::nullopt;
    product *= size;
  }
  return product;
}

std::optional<uint64_t> tensorBytes(ElementType type, const std::vector<uint64_t> &shape) {
  auto count = numElements(shape);
  if (!count || *count > limit / elementBits(type))
    return std::nullopt;
  return (*count * elementBits(type) + 7) / 8;
}

namespace {
template <class Size> std::string joinSizes(std::span<const Size> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text;
}
} // namespace

std::string shapeText(std::span<const uint64_t> shape) { return joinSizes(shape); }
std::string shapeText(std::span<const int64_t> shape) { return joinSizes(shape); }

} // namespace pto_mlir
