// IRVisitor: each kind's default follows the fields that the class names.
#include "pypto/ir/transforms/base/visitor.h"

#include "pypto/ir/node_access.h"

namespace pypto::ir {

struct VisitFieldsOf {
  IRVisitor &visitor;
  unsigned flags = kPlain;

  template <class T> void operator()(const T &node) {
    ForEachField<T>([&](const char *, auto member, unsigned fieldFlags) {
      flags = fieldFlags;
      value(node.*member);
    });
  }

  /// The default of one kind, by way of the method that a group of kinds shares.
  template <class T> void kind(const std::shared_ptr<const T> &op) {
    if constexpr (std::is_base_of_v<BinaryExpr, T>)
      visitor.VisitBinaryExpr_(op);
    else if constexpr (std::is_base_of_v<UnaryExpr, T>)
      visitor.VisitUnaryExpr_(op);
    else if constexpr (std::is_base_of_v<ScopeStmt, T>)
      visitor.VisitScopeStmt_(op);
    else if constexpr (!std::is_base_of_v<Var, T>)
      (*this)(*op);
  }

  template <class T> void value(const std::shared_ptr<const T> &child) {
    if (!child)
      return;
    if constexpr (std::is_base_of_v<Var, T>) {
      if (flags & kDef)
        visitor.VisitDef(child);
      else
        visitor.VisitExpr(child);
    } else if constexpr (std::is_base_of_v<Expr, T>) {
      visitor.VisitExpr(child);
    } else if constexpr (std::is_base_of_v<Stmt, T>) {
      visitor.VisitStmt(child);
    } else if constexpr (std::is_same_v<Function, T>) {
      visitor.VisitFunction(child);
    }
  }
  template <class T> void value(const std::vector<T> &children) {
    for (const T &child : children)
      value(child);
  }
  template <class T> void value(const std::optional<T> &child) {
    if (child)
      value(*child);
  }
  void value(const std::pair<std::string, Attr> &attr) {
    std::visit([this](const auto &held) { value(held); }, attr.second);
  }
  template <class T> void value(const T &) {}
};

void IRVisitor::VisitProgram(const ProgramPtr &program) { VisitFieldsOf{*this}(*program); }
void IRVisitor::VisitFunction(const FunctionPtr &function) { VisitFieldsOf{*this}(*function); }

void IRVisitor::VisitExpr(const ExprPtr &expr) {
  switch (expr->kind()) {
#define PYPTO_VISIT(Name, ...)                                                                                         \
  case NodeKind::Name:                                                                                                 \
    return VisitExpr_(std::static_pointer_cast<const Name>(expr));
    PYPTO_EXPRS(PYPTO_VISIT)
#undef PYPTO_VISIT
  default:
    INTERNAL_CHECK(false) << KindName(expr->kind());
  }
}

void IRVisitor::VisitStmt(const StmtPtr &stmt) {
  switch (stmt->kind()) {
#define PYPTO_VISIT(Name, ...)                                                                                         \
  case NodeKind::Name:                                                                                                 \
    return VisitStmt_(std::static_pointer_cast<const Name>(stmt));
    PYPTO_STMTS(PYPTO_VISIT)
#undef PYPTO_VISIT
  default:
    INTERNAL_CHECK(false) << KindName(stmt->kind());
  }
}

void IRVisitor::VisitDef(const VarPtr &var) {
  if (auto carried = As<IterArg>(var))
    VisitExpr(carried->initValue_);
  VisitExpr(var);
}

#define PYPTO_VISIT(Name, ...)                                                                                         \
  void IRVisitor::VisitExpr_(const Name##Ptr &op) { VisitFieldsOf{*this}.kind(op); }
PYPTO_EXPRS(PYPTO_VISIT)
#undef PYPTO_VISIT
#define PYPTO_VISIT(Name, ...)                                                                                         \
  void IRVisitor::VisitStmt_(const Name##Ptr &op) { VisitFieldsOf{*this}.kind(op); }
PYPTO_STMTS(PYPTO_VISIT)
#undef PYPTO_VISIT

void IRVisitor::VisitBinaryExpr_(const BinaryExprPtr &op) {
  VisitExpr(op->left_);
  VisitExpr(op->right_);
}

void IRVisitor::VisitUnaryExpr_(const UnaryExprPtr &op) { VisitExpr(op->operand_); }

void IRVisitor::VisitScopeStmt_(const ScopeStmtPtr &op) {
  Dispatch(*op, [this](const auto &scope) { VisitFieldsOf{*this}(scope); });
}

} // namespace pypto::ir
