// Enumerations, expressions and keywords to and from Python.
#include "Convert.h"

namespace pypto::python {
namespace {

/// The Python class of each enumeration, by number.
std::vector<PyObject *> enumClasses;

} // namespace

void registerEnum(PyObject *cls) { enumClasses.push_back(cls); }

nb::object enumObject(EnumValue value) {
  nb::handle cls = enumClasses[static_cast<size_t>(value.kind)];
  return cls.attr(ValueName(value).data());
}

EnumValue enumFrom(nb::handle object) {
  for (size_t i = 0; i < enumClasses.size(); ++i)
    if (Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject *>(enumClasses[i]))
      return {static_cast<EnumKind>(i), nb::cast<uint8_t>(object.attr("value"))};
  throw TypeError("no value of an enumeration");
}

nb::object attrObject(const Attr &value) {
  if (std::holds_alternative<std::monostate>(value))
    return nb::none();
  return std::visit(
      [](const auto &held) -> nb::object {
        using T = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return enumObject(held);
        } else if constexpr (std::is_same_v<T, std::vector<EnumValue>>) {
          nb::list list;
          for (EnumValue each : held)
            list.append(enumObject(each));
          return list;
        } else {
          return toPython(held);
        }
      },
      value);
}

ExprPtr exprFrom(nb::handle object) {
  std::shared_ptr<Expr> expr;
  if (nb::try_cast<std::shared_ptr<Expr>>(object, expr) && expr)
    return expr;
  if (nb::isinstance<nb::bool_>(object))
    return std::make_shared<const ConstBool>(nb::cast<bool>(object), Span::unknown());
  if (nb::isinstance<nb::int_>(object))
    return std::make_shared<const ConstInt>(nb::cast<int64_t>(object), kDefaultInt, Span::unknown());
  if (nb::isinstance<nb::float_>(object))
    return std::make_shared<const ConstFloat>(nb::cast<double>(object), kDefaultFloat, Span::unknown());
  if (isSequence(object)) {
    std::vector<ExprPtr> elements;
    fromPython(object, elements);
    return std::make_shared<const MakeTuple>(std::move(elements), Span::unknown());
  }
  throw TypeError("expects a number or an expression, not a " + nb::cast<std::string>(nb::type_name(object.type())));
}

Attr attrFrom(nb::handle object) {
  if (object.is_none())
    return std::monostate();
  if (nb::isinstance<nb::bool_>(object))
    return nb::cast<bool>(object);
  if (nb::isinstance<nb::float_>(object))
    return nb::cast<double>(object);
  if (nb::isinstance<nb::str>(object))
    return nb::cast<std::string>(object);
  if (nb::isinstance<DataType>(object))
    return nb::cast<DataType>(object);
  for (PyObject *cls : enumClasses)
    if (Py_TYPE(object.ptr()) == reinterpret_cast<PyTypeObject *>(cls))
      return enumFrom(object);
  if (nb::isinstance<nb::int_>(object))
    return nb::cast<int64_t>(object);
  if (!isSequence(object))
    return exprFrom(object);
  bool integers = true, enums = nb::len(object) > 0;
  for (nb::handle element : object) {
    Attr value = attrFrom(element);
    integers = integers && std::holds_alternative<int64_t>(value);
    enums = enums && std::holds_alternative<EnumValue>(value);
  }
  if (enums) {
    std::vector<EnumValue> values;
    values.reserve(nb::len(object));
    for (nb::handle element : object)
      values.push_back(enumFrom(element));
    return values;
  }
  if (integers) {
    std::vector<int64_t> values;
    values.reserve(nb::len(object));
    for (nb::handle element : object)
      values.push_back(nb::cast<int64_t>(element));
    return values;
  }
  std::vector<ExprPtr> values;
  fromPython(object, values);
  return values;
}

} // namespace pypto::python
