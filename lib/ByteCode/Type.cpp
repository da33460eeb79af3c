#include "pto_mlir/ByteCode/Type.h"

#include <algorithm>
#include <charconv>

namespace pto_mlir::bytecode {

Kind Type::kind() const {
  if (isTensor)
    return Kind::Tensor;
  if (isTask)
    return Kind::Task;
  return element == ElementType::F32 || element == ElementType::F64 ? Kind::Float : Kind::Integer;
}

bool Type::isStatic() const { return numDynamic() == 0; }

unsigned Type::numDynamic() const { return std::count(shape.begin(), shape.end(), kDynamic); }

std::string elementText(ElementType element) {
  return element == ElementType::Boolean ? "i1" : std::string(elementTypeName(element));
}

std::optional<ElementType> parseElement(std::string_view text) {
  if (text == "i1")
    return ElementType::Boolean;
  return text == "boolean" ? std::nullopt : parseElementType(text);
}

std::string typeText(const Type &type) {
  if (type.isTask)
    return "task";
  if (!type.isTensor)
    return elementText(type.element);
  std::string text = "tensor<";
  for (int64_t size : type.shape)
    text += (size == kDynamic ? "?" : std::to_string(size)) + "x";
  return text + elementText(type.element) + ">";
}

bool isValidType(const Type &type) {
  if (type.isTask)
    return type == Type::task();
  if (static_cast<unsigned>(type.element) >= numElementTypes)
    return false;
  if (!type.isTensor) {
    switch (type.element) {
    case ElementType::Boolean:
    case ElementType::I8:
    case ElementType::I16:
    case ElementType::I32:
    case ElementType::I64:
    case ElementType::F32:
    case ElementType::F64:
      return type.shape.empty();
    default:
      return false;
    }
  }
  if (type.shape.size() > 8)
    return false;
  std::vector<uint64_t> known;
  for (int64_t size : type.shape) {
    if (size < 0 && size != kDynamic)
      return false;
    known.push_back(size == kDynamic ? 1 : size);
  }
  auto bytes = tensorBytes(type.element, known);
  return bytes && *bytes <= uint64_t(1) << 40;
}

std::optional<Type> parseType(std::string_view text) {
  if (text == "task")
    return Type::task();
  Type type;
  if (text.starts_with("tensor<") && text.ends_with(">")) {
    type.isTensor = true;
    text.remove_prefix(7);
    text.remove_suffix(1);
    for (size_t cross; (cross = text.find('x')) != std::string_view::npos; text.remove_prefix(cross + 1)) {
      std::string_view size = text.substr(0, cross);
      int64_t value = kDynamic;
      if (size != "?") {
        auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), value);
        if (error != std::errc() || end != size.data() + size.size() || value < 0 ||
            (size.size() > 1 && size[0] == '0'))
          return std::nullopt;
      }
      type.shape.push_back(value);
    }
  }
  auto element = parseElement(text);
  if (!element)
    return std::nullopt;
  type.element = *element;
  return isValidType(type) ? std::optional(type) : std::nullopt;
}

bool isRefinedBy(const Type &to, const Type &from) {
  if (to.isTask != from.isTask || to.isTensor != from.isTensor || to.element != from.element ||
      to.shape.size() != from.shape.size())
    return false;
  for (size_t i = 0; i < to.shape.size(); ++i)
    if (to.shape[i] != kDynamic && to.shape[i] != from.shape[i])
      return false;
  return true;
}

} // namespace pto_mlir::bytecode
