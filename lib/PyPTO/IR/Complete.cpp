// What every node must hold to, and how deep it is; one function per class, compiled here only.
#include "pypto/ir/node_access.h"

#include <algorithm>

namespace pypto::ir {
namespace {

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

} // namespace

/// An optional child compares with nullptr, too, so what is a pointer is asked for by its type.
template <class T> constexpr bool kIsPointer = false;
template <class T> constexpr bool kIsPointer<std::shared_ptr<T>> = true;

template <class T> void NodeAccess::Complete(T &node) {
  unsigned levels = 1;
  T::Fields([&](const char *name, auto member, unsigned flags) {
    bool optional = flags & kOptional;
    const auto &value = node.*member;
    bool null = false;
    if constexpr (kIsPointer<std::remove_cvref_t<decltype(value)>>)
      null = !value && !optional;
    else
      null = HasNull(value);
    CHECK(!null) << KindName(node.kind()) << " needs its " << name;
    levels = std::max(levels, 1 + LevelsOf(value));
  });
  CHECK(levels <= kMostLevels) << "the program nests deeper than " << kMostLevels << " levels";
  node.levels_ = static_cast<uint16_t>(levels);
  node.Finish();
}

#define PYPTO_COMPLETE(Name, ...) template void NodeAccess::Complete<Name>(Name &);
PYPTO_LEAF_EXPRS(PYPTO_COMPLETE)
PYPTO_STMTS(PYPTO_COMPLETE)
PYPTO_TYPES(PYPTO_COMPLETE)
PYPTO_OTHER_NODES(PYPTO_COMPLETE)
#undef PYPTO_COMPLETE
template void NodeAccess::Complete<BinaryExpr>(BinaryExpr &);
template void NodeAccess::Complete<UnaryExpr>(UnaryExpr &);

} // namespace pypto::ir
