// Values of the IR's fields to and from Python.
#ifndef PYTHON_PYPTO_CORE_CONVERT_H
#define PYTHON_PYPTO_CORE_CONVERT_H

#include "pypto/ir/node_access.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace pypto::python {

namespace nb = nanobind;
using namespace pypto::ir;

// --- to Python ---------------------------------------------------------------------------

/// The class of the next enumeration of PYPTO_ENUMS; the module holds it.
void registerEnum(PyObject *cls);
nb::object enumObject(EnumValue value);
nb::object attrObject(const Attr &value);

template <class T> nb::object toPython(const T &value);
template <class T> nb::object toPython(const std::shared_ptr<const T> &value) {
  return value ? nb::cast(std::const_pointer_cast<T>(value)) : nb::none();
}
template <class T> nb::object toPython(const std::optional<T> &value) { return value ? toPython(*value) : nb::none(); }
template <class T> nb::object toPython(const std::vector<T> &values) {
  nb::list list;
  for (const T &value : values)
    list.append(toPython(value));
  return list;
}
inline nb::object toPython(const Attrs &attrs) {
  nb::dict dictionary;
  for (const auto &[key, value] : attrs)
    dictionary[key.c_str()] = attrObject(value);
  return dictionary;
}
template <class T> nb::object toPython(const T &value) {
  if constexpr (std::is_enum_v<T>)
    return enumObject(AsEnumValue(value));
  else
    return nb::cast(value);
}

// --- from Python: TypeError without the field's name where the object is of another type ---------------------------

ExprPtr exprFrom(nb::handle object);
Attr attrFrom(nb::handle object);
EnumValue enumFrom(nb::handle object);
inline bool isSequence(nb::handle object) {
  return nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object);
}

template <class T> void fromPython(nb::handle object, T &value) {
  if constexpr (std::is_enum_v<T>) {
    EnumValue held = enumFrom(object);
    CHECK_AS(TypeError, held.kind == EnumTraits<T>::kKind) << "a value of another enumeration";
    value = static_cast<T>(held.value);
  } else {
    CHECK_AS(TypeError, nb::try_cast<T>(object, value)) << "an object of a wrong type";
  }
}
template <class T> void fromPython(nb::handle object, std::shared_ptr<const T> &value) {
  if (object.is_none()) {
    value = nullptr;
    return;
  }
  if constexpr (std::is_same_v<T, Expr>) {
    value = exprFrom(object);
  } else {
    std::shared_ptr<T> held;
    if constexpr (std::is_same_v<T, Op>)
      if (nb::isinstance<nb::str>(object)) {
        value = std::make_shared<const Op>(nb::cast<std::string>(object));
        return;
      }
    CHECK_AS(TypeError, nb::try_cast<std::shared_ptr<T>>(object, held)) << "an object of a wrong type";
    value = std::move(held);
  }
}
template <class T> void fromPython(nb::handle object, std::optional<T> &value) {
  if (object.is_none()) {
    value.reset();
    return;
  }
  T held{};
  fromPython(object, held);
  value = std::move(held);
}
inline void fromPython(nb::handle object, std::optional<TileView> &value) {
  if (object.is_none())
    value.reset();
  else
    value = nb::cast<TileView>(object);
}
inline void fromPython(nb::handle object, std::optional<TensorView> &value) {
  if (object.is_none())
    value.reset();
  else
    value = nb::cast<TensorView>(object);
}
template <class T> void fromPython(nb::handle object, std::vector<T> &values) {
  values.clear();
  if (object.is_none())
    return;
  if (!isSequence(object)) { // one stands for a list of one
    T value{};
    fromPython(object, value);
    values.push_back(std::move(value));
    return;
  }
  values.reserve(nb::len(object));
  for (nb::handle element : object) {
    T value{};
    fromPython(element, value);
    values.push_back(std::move(value));
  }
}
inline void fromPython(nb::handle object, Attrs &attrs) {
  attrs.clear();
  if (object.is_none())
    return;
  for (auto [key, value] : nb::cast<nb::dict>(object))
    attrs.emplace_back(nb::cast<std::string>(key), attrFrom(value));
}

} // namespace pypto::python

#endif // PYTHON_PYPTO_CORE_CONVERT_H
