// Expressions: scalars, and calls on tensors and tiles.
#ifndef PYPTO_IR_EXPR_H
#define PYPTO_IR_EXPR_H

#include "pypto/ir/attr.h"
#include "pypto/ir/type.h"

namespace pypto::ir {

class Expr : public IRNode {
public:
  TypePtr type_; ///< never null

  /// The type.
  const TypePtr &GetType() const { return type_; }
  PYPTO_ABSTRACT_NODE(Expr, IRNode, Var, Cast)
};

/// A variable. Two with one name are two variables: identity is the object's.
class Var : public Expr {
public:
  std::string name_hint_;

  Var(std::string name_hint, TypePtr type, Span span);

  template <class F> static void Fields(F &&f) {
    f("name_hint", &Var::name_hint_, kNote);
    f("type", &Var::type_, kPlain);
  }
  PYPTO_BASE_NODE(Var, Expr, IterArg)
  void Finish();
};

/// A variable that a loop carries: `initValue_` before the first iteration, then what the body yields.
class IterArg final : public Var {
public:
  ExprPtr initValue_;

  IterArg(std::string name_hint, TypePtr type, ExprPtr initValue, Span span);

  template <class F> static void Fields(F &&f) {
    Var::Fields(f);
    f("initValue", &IterArg::initValue_, kPlain);
  }
  PYPTO_NODE(IterArg, Var)
};

class ConstInt final : public Expr {
public:
  int64_t value_ = 0;
  DataType dtype_;

  ConstInt(int64_t value, DataType dtype, Span span);

  template <class F> static void Fields(F &&f) {
    f("value", &ConstInt::value_, kPlain);
    f("dtype", &ConstInt::dtype_, kPlain);
  }
  PYPTO_NODE(ConstInt, Expr)
  void Finish();
};

class ConstFloat final : public Expr {
public:
  double value_ = 0;
  DataType dtype_;

  ConstFloat(double value, DataType dtype, Span span);

  template <class F> static void Fields(F &&f) {
    f("value", &ConstFloat::value_, kPlain);
    f("dtype", &ConstFloat::dtype_, kPlain);
  }
  PYPTO_NODE(ConstFloat, Expr)
  void Finish();
};

class ConstBool final : public Expr {
public:
  bool value_ = false;

  ConstBool(bool value, Span span);

  template <class F> static void Fields(F &&f) { f("value", &ConstBool::value_, kPlain); }
  PYPTO_NODE(ConstBool, Expr)
  void Finish();
};

/// What a call calls: an operation by its name ("tile.add"), or a function.
class Op : public Node {
public:
  std::string name_;

  explicit Op(std::string name);

  template <class F> static void Fields(F &&f) { f("name", &Op::name_, kPlain); }
  PYPTO_BASE_NODE(Op, Node, GlobalVar)
  void Finish();
};

/// The name of a function of the program.
class GlobalVar final : public Op {
public:
  explicit GlobalVar(std::string name);

  PYPTO_NODE(GlobalVar, Op)
};

class Call : public Expr {
public:
  OpPtr op_;
  std::vector<ExprPtr> args_;
  Attrs kwargs_; ///< what the operation's meaning depends on
  Attrs attrs_;  ///< what is said about this call only

  /// Without a type, the call's is unknown.
  Call(OpPtr op, std::vector<ExprPtr> args, Span span);
  Call(OpPtr op, std::vector<ExprPtr> args, Attrs kwargs, TypePtr type, Span span);

  template <class F> static void Fields(F &&f) {
    f("op", &Call::op_, kPlain);
    f("args", &Call::args_, kPlain);
    f("kwargs", &Call::kwargs_, kOptional);
    f("attrs", &Call::attrs_, kOptional);
    f("type", &Call::type_, kOptional);
  }
  PYPTO_BASE_NODE(Call, Expr, Submit)
  void Finish();
};

/// A call that becomes a task of its own.
class Submit final : public Call {
public:
  std::vector<ExprPtr> deps_;
  ExprPtr core_num_; ///< null: one block
  bool sync_start_ = false;
  ExprPtr predicate_;                ///< null: always runs
  bool allow_early_resolve_ = false; ///< a hint to schedulers: successors may be released before this task ends

  Submit(OpPtr op, std::vector<ExprPtr> args, std::vector<ExprPtr> deps, TypePtr type, Span span);

  template <class F> static void Fields(F &&f) {
    Call::Fields(f);
    f("deps", &Submit::deps_, kOptional);
    f("core_num", &Submit::core_num_, kOptional);
    f("sync_start", &Submit::sync_start_, kOptional);
    f("predicate", &Submit::predicate_, kOptional);
    f("allow_early_resolve", &Submit::allow_early_resolve_, kOptional);
  }
  PYPTO_NODE(Submit, Call)
  void Finish();
};

class MakeTuple final : public Expr {
public:
  std::vector<ExprPtr> elements_;

  MakeTuple(std::vector<ExprPtr> elements, Span span);

  template <class F> static void Fields(F &&f) { f("elements", &MakeTuple::elements_, kPlain); }
  PYPTO_NODE(MakeTuple, Expr)
  void Finish();
};

class TupleGetItemExpr final : public Expr {
public:
  ExprPtr tuple_;
  int64_t index_ = 0;

  TupleGetItemExpr(ExprPtr tuple, int64_t index, Span span);

  template <class F> static void Fields(F &&f) {
    f("tuple", &TupleGetItemExpr::tuple_, kPlain);
    f("index", &TupleGetItemExpr::index_, kPlain);
  }
  PYPTO_NODE(TupleGetItemExpr, Expr)
  void Finish();
};

/// A scalar of two scalars.
class BinaryExpr : public Expr {
public:
  ExprPtr left_;
  ExprPtr right_;
  DataType dtype_; ///< of the result

  template <class F> static void Fields(F &&f) {
    f("left", &BinaryExpr::left_, kPlain);
    f("right", &BinaryExpr::right_, kPlain);
    f("dtype", &BinaryExpr::dtype_, kPlain);
  }
  PYPTO_ABSTRACT_NODE(BinaryExpr, Expr, Add, BitShiftRight)
  BinaryExpr(NodeKind kind, ExprPtr left, ExprPtr right, DataType dtype, Span span);
  void Finish();
};

/// A scalar of one scalar.
class UnaryExpr : public Expr {
public:
  ExprPtr operand_;
  DataType dtype_; ///< of the result

  template <class F> static void Fields(F &&f) {
    f("operand", &UnaryExpr::operand_, kPlain);
    f("dtype", &UnaryExpr::dtype_, kPlain);
  }
  PYPTO_ABSTRACT_NODE(UnaryExpr, Expr, Abs, Cast)
  UnaryExpr(NodeKind kind, ExprPtr operand, DataType dtype, Span span);
  void Finish();
};

#define PYPTO_BINARY(Name, ...)                                                                                        \
  class Name final : public BinaryExpr {                                                                               \
  public:                                                                                                              \
    Name(ExprPtr left, ExprPtr right, DataType dtype, Span span)                                                       \
        : BinaryExpr(kKind, std::move(left), std::move(right), dtype, std::move(span)) {}                              \
    PYPTO_NODE(Name, BinaryExpr)                                                                                       \
  };
PYPTO_BINARY_EXPRS(PYPTO_BINARY)
#undef PYPTO_BINARY
#define PYPTO_UNARY(Name, ...)                                                                                         \
  class Name final : public UnaryExpr {                                                                                \
  public:                                                                                                              \
    Name(ExprPtr operand, DataType dtype, Span span) : UnaryExpr(kKind, std::move(operand), dtype, std::move(span)) {} \
    PYPTO_NODE(Name, UnaryExpr)                                                                                        \
  };
PYPTO_UNARY_EXPRS(PYPTO_UNARY)
#undef PYPTO_UNARY

/// "+", "min": how the DSL writes the operator of a unary or binary expression.
std::string_view OperatorText(NodeKind kind);
/// How tightly it binds: higher is tighter, 0 for one that is written as a call.
int OperatorStrength(NodeKind kind);

/// A node of that kind. `kind` must be one of a binary, or unary, expression.
BinaryExprPtr MakeBinary(NodeKind kind, ExprPtr left, ExprPtr right, DataType dtype, Span span);
UnaryExprPtr MakeUnary(NodeKind kind, ExprPtr operand, DataType dtype, Span span);

/// The value of a constant integer; nothing for other expressions.
std::optional<int64_t> ConstantInt(const ExprPtr &expr);

} // namespace pypto::ir

#endif // PYPTO_IR_EXPR_H
