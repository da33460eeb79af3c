// Keywords of calls and attributes of statements and functions.
#ifndef PYPTO_IR_ATTR_H
#define PYPTO_IR_ATTR_H

#include "pypto/ir/node.h"

#include <variant>

namespace pypto::ir {

/// A value of a keyword or an attribute; the order of the alternatives is the number in stored programs.
/// The last is `None`: as an argument, one that was not given.
using Attr = std::variant<bool, int64_t, double, std::string, DataType, EnumValue, std::vector<int64_t>,
                          std::vector<EnumValue>, ExprPtr, std::vector<ExprPtr>, std::monostate>;
/// Named values in the order they were given.
using Attrs = std::vector<std::pair<std::string, Attr>>;

/// The value called `name`, or null.
const Attr *FindAttr(const Attrs &attrs, std::string_view name);
/// The same as a T; null where there is none or it holds something else.
template <class T> const T *FindAttr(const Attrs &attrs, std::string_view name) {
  const Attr *attr = FindAttr(attrs, name);
  return attr ? std::get_if<T>(attr) : nullptr;
}
/// The enumeration value called `name`, or `otherwise`.
template <class E> E FindEnum(const Attrs &attrs, std::string_view name, E otherwise) {
  const EnumValue *value = FindAttr<EnumValue>(attrs, name);
  return value && value->kind == EnumTraits<E>::kKind ? static_cast<E>(value->value) : otherwise;
}

} // namespace pypto::ir

#endif // PYPTO_IR_ATTR_H
