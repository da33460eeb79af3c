// The kinds of nodes, their common base, and how a class says its fields.
#ifndef PYPTO_IR_NODE_H
#define PYPTO_IR_NODE_H

#include "pypto/core/dtype.h"
#include "pypto/ir/enums.h"
#include "pypto/ir/span.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

// One list of kinds. The order is the number in stored programs; groups are contiguous (Var to IterArg, .. are ranges).
// X(Class, operator or function of `pl`, binding strength: a higher one binds more tightly, 0 is a call)
#define PYPTO_BINARY_EXPRS(X)                                                                                          \
  X(Add, "+", 9)                                                                                                       \
  X(Sub, "-", 9)                                                                                                       \
  X(Mul, "*", 10)                                                                                                      \
  X(FloorDiv, "//", 10)                                                                                                \
  X(FloorMod, "%", 10)                                                                                                 \
  X(FloatDiv, "/", 10)                                                                                                 \
  X(Min, "min", 0)                                                                                                     \
  X(Max, "max", 0)                                                                                                     \
  X(Pow, "pow", 0)                                                                                                     \
  X(Eq, "==", 4)                                                                                                       \
  X(Ne, "!=", 4)                                                                                                       \
  X(Lt, "<", 4)                                                                                                        \
  X(Le, "<=", 4)                                                                                                       \
  X(Gt, ">", 4)                                                                                                        \
  X(Ge, ">=", 4)                                                                                                       \
  X(And, "and", 2)                                                                                                     \
  X(Or, "or", 1)                                                                                                       \
  X(Xor, "logical_xor", 0)                                                                                             \
  X(BitAnd, "and_", 0)                                                                                                 \
  X(BitOr, "or_", 0)                                                                                                   \
  X(BitXor, "xor", 0)                                                                                                  \
  X(BitShiftLeft, "<<", 8)                                                                                             \
  X(BitShiftRight, ">>", 8)
#define PYPTO_UNARY_EXPRS(X)                                                                                           \
  X(Abs, "abs", 0)                                                                                                     \
  X(Neg, "-", 11)                                                                                                      \
  X(Not, "not", 3)                                                                                                     \
  X(BitNot, "~", 11)                                                                                                   \
  X(Cast, "cast", 0)
#define PYPTO_LEAF_EXPRS(X)                                                                                            \
  X(Var) X(IterArg) X(ConstInt) X(ConstFloat) X(ConstBool) X(Call) X(Submit) X(MakeTuple) X(TupleGetItemExpr)
// clang-format off: it moves the brackets of these back and forth
#define PYPTO_STMTS(X)                                                                                                 \
  X(AssignStmt) X(EvalStmt) X(SeqStmts) X(ReturnStmt) X(YieldStmt) X(BreakStmt) X(ContinueStmt) X(IfStmt) X(ForStmt)   \
  X(WhileStmt) X(InCoreScopeStmt) X(ClusterScopeStmt) X(HierarchyScopeStmt) X(SpmdScopeStmt) X(SplitAivScopeStmt)      \
  X(RuntimeScopeStmt)
#define PYPTO_TYPES(X)                                                                                                 \
  X(UnknownType) X(ScalarType) X(TensorType) X(DistributedTensorType) X(TileType) X(ArrayType) X(TupleType) X(PtrType) \
  X(PrefetchAsyncContextType) X(AsyncEventType) X(AsyncSessionType)
// clang-format on
#define PYPTO_OTHER_NODES(X) X(Op) X(GlobalVar) X(MemRef) X(Function) X(Program)

/// X(Class) for every expression, and for every node.
#define PYPTO_EXPRS(X) PYPTO_LEAF_EXPRS(X) PYPTO_BINARY_EXPRS(X) PYPTO_UNARY_EXPRS(X)
#define PYPTO_NODES(X) PYPTO_EXPRS(X) PYPTO_STMTS(X) PYPTO_TYPES(X) PYPTO_OTHER_NODES(X)

namespace pypto::ir {

#define PYPTO_KIND(Name, ...) Name,
enum class NodeKind : uint8_t { PYPTO_NODES(PYPTO_KIND) };
#undef PYPTO_KIND
#define PYPTO_KIND(Name, ...) +1
inline constexpr unsigned kNumNodeKinds = 0 PYPTO_NODES(PYPTO_KIND);
#undef PYPTO_KIND

/// "AssignStmt".
std::string_view KindName(NodeKind kind);

struct NodeAccess;
class Node;
class IRNode;
class Expr;
class Stmt;
class Type;
class BinaryExpr;
class UnaryExpr;
class ScopeStmt;
using NodePtr = std::shared_ptr<const Node>;
using IRNodePtr = std::shared_ptr<const IRNode>;
using ExprPtr = std::shared_ptr<const Expr>;
using StmtPtr = std::shared_ptr<const Stmt>;
using TypePtr = std::shared_ptr<const Type>;
using BinaryExprPtr = std::shared_ptr<const BinaryExpr>;
using UnaryExprPtr = std::shared_ptr<const UnaryExpr>;
using ScopeStmtPtr = std::shared_ptr<const ScopeStmt>;
#define PYPTO_KIND(Name, ...)                                                                                          \
  class Name;                                                                                                          \
  using Name##Ptr = std::shared_ptr<const Name>;
PYPTO_NODES(PYPTO_KIND)
#undef PYPTO_KIND

/// What a field of a node is, beside its type; values add up.
enum FieldFlags : unsigned {
  kPlain = 0,
  kDef = 1,      ///< variables that this node binds
  kNote = 2,     ///< a help for readers that equality and hashing ignore
  kOptional = 4, ///< may be null, and has a default in Python
};

/// The first version of stored programs that has the field; without it every version that is read has it. Adds up with
/// the flags.
constexpr unsigned Since(unsigned version) { return version << 8; }
constexpr unsigned FirstVersion(unsigned flags) { return flags >> 8; }

/// Nodes hold at most so many levels of others, so that recursive walks (and destructors) are safe.
inline constexpr unsigned kMostLevels = 1000;

/// Base of everything immutable that `shared_ptr<const X>` handles hold.
class Node {
public:
  virtual ~Node() = default;
  NodeKind kind() const { return kind_; }
  /// Levels of nodes below this one, itself included.
  unsigned levels() const { return levels_; }

protected:
  friend struct NodeAccess;
  explicit Node(NodeKind kind) : kind_(kind) {}
  Node(const Node &) = default;

private:
  NodeKind kind_;
  uint16_t levels_ = 1;
};

/// A node with a place in the source: expressions, statements, functions, programs.
class IRNode : public Node {
public:
  Span span_;

protected:
  using Node::Node;
};

/// Whether a node is of class T or of one that derives from it.
template <class T> bool IsA(const Node &node) { return T::ClassOf(node.kind()); }
template <class T, class U> bool IsA(const std::shared_ptr<const U> &node) { return node && T::ClassOf(node->kind()); }
/// The node as a T, or null.
template <class T, class U> std::shared_ptr<const T> As(const std::shared_ptr<const U> &node) {
  return IsA<T>(node) ? std::static_pointer_cast<const T>(node) : nullptr;
}

/// In a class of one kind, whose constructor without arguments is for those that fill fields one by one (NodeAccess).
/// Such a class declares `template <class F> static void Fields(F &&f)`, which calls `f(name, &Class::member_, flags)`
/// for each field in the order of the constructor in Python. Visitor, mutator, equality, hash, bytes and bindings read
/// it.
#define PYPTO_NODE(Name, Parent)                                                                                       \
public:                                                                                                                \
  static constexpr NodeKind kKind = NodeKind::Name;                                                                    \
  static bool ClassOf(NodeKind kind) { return kind == kKind; }                                                         \
                                                                                                                       \
protected:                                                                                                             \
  friend struct ::pypto::ir::NodeAccess;                                                                               \
  Name() : Parent(kKind) {}
/// The same in a class that others derive from; Last is the last of their kinds.
#define PYPTO_BASE_NODE(Name, Parent, Last)                                                                            \
public:                                                                                                                \
  static constexpr NodeKind kKind = NodeKind::Name;                                                                    \
  static bool ClassOf(NodeKind kind) { return kind >= kKind && kind <= NodeKind::Last; }                               \
                                                                                                                       \
protected:                                                                                                             \
  friend struct ::pypto::ir::NodeAccess;                                                                               \
  explicit Name(NodeKind kind = kKind) : Parent(kind) {}
/// In a base class without a kind of its own, whose kinds go from First to Last.
#define PYPTO_ABSTRACT_NODE(Name, Parent, First, Last)                                                                 \
public:                                                                                                                \
  static bool ClassOf(NodeKind kind) { return kind >= NodeKind::First && kind <= NodeKind::Last; }                     \
                                                                                                                       \
protected:                                                                                                             \
  friend struct ::pypto::ir::NodeAccess;                                                                               \
  explicit Name(NodeKind kind) : Parent(kind) {}

} // namespace pypto::ir

#endif // PYPTO_IR_NODE_H
