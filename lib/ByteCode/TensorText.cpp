#include "TensorText.h"

#include <charconv>
#include <cmath>

namespace pto_mlir::bytecode {

namespace {

template <class Use> bool withElement(ElementType type, Use use) {
  switch (type) {
  case ElementType::I8:
    return use(int8_t());
  case ElementType::I16:
    return use(int16_t());
  case ElementType::I32:
    return use(int32_t());
  case ElementType::I64:
    return use(int64_t());
  case ElementType::U8:
    return use(uint8_t());
  case ElementType::U16:
    return use(uint16_t());
  case ElementType::U32:
    return use(uint32_t());
  case ElementType::U64:
    return use(uint64_t());
  case ElementType::F32:
    return use(float());
  case ElementType::F64:
    return use(double());
  default:
    return false;
  }
}

template <class T> bool writeElements(const std::vector<uint8_t> &data, std::string &text) {
  if (data.size() % sizeof(T))
    return false;
  for (size_t i = 0; i < data.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, data.data() + i, sizeof(T));
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value))
        return false;
    char buffer[40];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    text += (i ? ", " : "") + std::string(buffer, end);
  }
  return true;
}

} // namespace

std::string tensorText(const Module &module, const TensorConstant &tensor) {
  std::string text;
  if (tensor.type < module.types.size() &&
      withElement(
          module.types[tensor.type].element, [&](auto tag) { return writeElements<decltype(tag)>(tensor.data, text); }))
    return "dense [" + text + "]";
  constexpr char digits[] = "0123456789abcdef";
  text = "bytes \"";
  for (uint8_t byte : tensor.data)
    text += {digits[byte >> 4], digits[byte & 15]};
  return text + "\"";
}

bool appendElement(ElementType type, std::string_view text, std::vector<uint8_t> &data) {
  return withElement(type, [&](auto value) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      return false;
    auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    data.insert(data.end(), bytes, bytes + sizeof value);
    return true;
  });
}

} // namespace pto_mlir::bytecode
