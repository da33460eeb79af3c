// For code that treats all kinds of nodes alike: visits by kind, and construction field by field.
#ifndef PYPTO_IR_NODE_ACCESS_H
#define PYPTO_IR_NODE_ACCESS_H

#include "pypto/core/error.h"
#include "pypto/ir/program.h"

#include <algorithm>

namespace pypto::ir {

/// Has fields of its own but is a value, not a node.
template <class T>
concept FieldStruct = std::is_same_v<T, TensorView> || std::is_same_v<T, TileView>;

/// Calls `function(const X &)` with the node as the class that names its fields: its own, or BinaryExpr or UnaryExpr.
template <class F> decltype(auto) Dispatch(const Node &node, F &&function) {
  switch (node.kind()) {
#define PYPTO_KIND(Name, ...)                                                                                          \
  case NodeKind::Name:                                                                                                 \
    return function(static_cast<const Name &>(node));
    PYPTO_LEAF_EXPRS(PYPTO_KIND)
    PYPTO_STMTS(PYPTO_KIND)
    PYPTO_TYPES(PYPTO_KIND)
    PYPTO_OTHER_NODES(PYPTO_KIND)
#undef PYPTO_KIND
  default:
    if (IsA<BinaryExpr>(node))
      return function(static_cast<const BinaryExpr &>(node));
    return function(static_cast<const UnaryExpr &>(node));
  }
}

/// `f(name, member, flags)` for each field, in an order in which variables are bound before they are read.
template <class T, class F> void ForEachField(F &&f) {
  if constexpr (std::is_same_v<T, WhileStmt>) { // its condition reads what it carries
    using Carried = std::vector<IterArgPtr> WhileStmt::*;
    T::Fields([&](const char *name, auto member, unsigned flags) {
      if constexpr (std::is_same_v<decltype(member), Carried>)
        f(name, member, flags);
    });
    T::Fields([&](const char *name, auto member, unsigned flags) {
      if constexpr (!std::is_same_v<decltype(member), Carried>)
        f(name, member, flags);
    });
  } else {
    T::Fields(f);
  }
}

namespace detail {

template <class T> bool HasNull(const T &value);
template <class T> bool HasNull(const std::shared_ptr<const T> &value) { return !value; }
template <class T> bool HasNull(const std::optional<T> &value) { return value && HasNull(*value); }
template <class A, class B> bool HasNull(const std::pair<A, B> &value) { return HasNull(value.second); }
template <class T> bool HasNull(const std::vector<T> &values) {
  for (const T &value : values)
    if (HasNull(value))
      return true;
  return false;
}
template <class T> bool HasNull(const T &value) {
  bool found = false;
  if constexpr (std::is_same_v<T, Attr>)
    found = std::visit([](const auto &held) { return HasNull(held); }, value);
  else if constexpr (FieldStruct<T>)
    T::Fields([&](const char *, auto member, unsigned) {
      if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(value.*member)>, ExprPtr>)
        found = found || HasNull(value.*member);
    });
  return found;
}

inline unsigned LevelsOf(const auto &) { return 0; }
template <class T> unsigned LevelsOf(const std::shared_ptr<const T> &value) { return value ? value->levels() : 0; }
template <class T> unsigned LevelsOf(const std::optional<T> &value);
template <class T> unsigned LevelsOf(const std::vector<T> &values);
inline unsigned LevelsOf(const Attr &value) {
  return std::visit([](const auto &held) { return LevelsOf(held); }, value);
}
inline unsigned LevelsOf(const std::pair<std::string, Attr> &value) { return LevelsOf(value.second); }
template <FieldStruct T> unsigned LevelsOf(const T &value) {
  unsigned levels = 0;
  T::Fields([&](const char *, auto member, unsigned) { levels = std::max(levels, LevelsOf(value.*member)); });
  return levels;
}
template <class T> unsigned LevelsOf(const std::optional<T> &value) { return value ? LevelsOf(*value) : 0; }
template <class T> unsigned LevelsOf(const std::vector<T> &values) {
  unsigned levels = 0;
  for (const T &value : values)
    levels = std::max(levels, LevelsOf(value));
  return levels;
}

} // namespace detail

struct NodeAccess {
  /// A node whose fields are still to be filled; Complete makes it valid.
  template <class T> static std::shared_ptr<T> New() { return std::shared_ptr<T>(new T()); }
  template <class T> static std::shared_ptr<T> Copy(const T &node) { return std::make_shared<T>(node); }

  /// Checks what the class demands and derives the rest of its members. ValueError names the class and the field.
  template <class T> static void Complete(T &node) {
    unsigned levels = 1;
    T::Fields([&](const char *name, auto member, unsigned flags) {
      bool optional = flags & kOptional;
      const auto &value = node.*member;
      bool null = false;
      if constexpr (requires { value == nullptr; })
        null = !value && !optional;
      else
        null = detail::HasNull(value);
      CHECK(!null) << KindName(node.kind()) << " needs its " << name;
      levels = std::max(levels, 1 + detail::LevelsOf(value));
    });
    CHECK(levels <= kMostLevels) << "the program nests deeper than " << kMostLevels << " levels";
    node.levels_ = static_cast<uint16_t>(levels);
    node.Finish();
  }
};

} // namespace pypto::ir

#endif // PYPTO_IR_NODE_ACCESS_H
