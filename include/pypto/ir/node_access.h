// For code that treats all kinds of nodes alike: visits by kind, and construction field by field.
#ifndef PYPTO_IR_NODE_ACCESS_H
#define PYPTO_IR_NODE_ACCESS_H

#include "pypto/core/error.h"
#include "pypto/ir/program.h"

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

struct NodeAccess {
  /// A node whose fields are still to be filled; Complete makes it valid.
  template <class T> static std::shared_ptr<T> New() { return std::shared_ptr<T>(new T()); }
  template <class T> static std::shared_ptr<T> Copy(const T &node) { return std::make_shared<T>(node); }

  /// Checks what the class demands and derives the rest of its members. ValueError names the class and the field.
  /// Compiled once for each class, in lib/PyPTO/IR/Complete.cpp.
  template <class T> static void Complete(T &node);
};

} // namespace pypto::ir

#endif // PYPTO_IR_NODE_ACCESS_H
