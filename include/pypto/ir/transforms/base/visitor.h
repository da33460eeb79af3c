// A walk over a program that changes nothing.
#ifndef PYPTO_IR_TRANSFORMS_BASE_VISITOR_H
#define PYPTO_IR_TRANSFORMS_BASE_VISITOR_H

#include "pypto/ir/program.h"

namespace pypto::ir {

/// Visits everything, children in the order of their fields; types are not entered. Override the method of a kind (or
/// of all binary or unary expressions, or of all scopes) and call the base's to go on below it.
class IRVisitor {
public:
  virtual ~IRVisitor() = default;

  virtual void VisitProgram(const ProgramPtr &program);
  virtual void VisitFunction(const FunctionPtr &function);
  /// Calls the VisitExpr_ of the expression's kind.
  virtual void VisitExpr(const ExprPtr &expr);
  /// Calls the VisitStmt_ of the statement's kind.
  virtual void VisitStmt(const StmtPtr &stmt);

protected:
#define PYPTO_VISIT(Name, ...) virtual void VisitExpr_(const Name##Ptr &op);
  PYPTO_EXPRS(PYPTO_VISIT)
#undef PYPTO_VISIT
#define PYPTO_VISIT(Name, ...) virtual void VisitStmt_(const Name##Ptr &op);
  PYPTO_STMTS(PYPTO_VISIT)
#undef PYPTO_VISIT
  /// What the VisitExpr_ of each binary expression calls, and of each unary one, and the VisitStmt_ of each scope.
  virtual void VisitBinaryExpr_(const BinaryExprPtr &op);
  virtual void VisitUnaryExpr_(const UnaryExprPtr &op);
  virtual void VisitScopeStmt_(const ScopeStmtPtr &op);
  /// Where a node binds a variable. Visits what an IterArg begins with, then the variable as an expression; a use of an
  /// IterArg does not visit what it begins with.
  virtual void VisitDef(const VarPtr &var);

private:
  friend struct VisitFieldsOf;
};

} // namespace pypto::ir

#endif // PYPTO_IR_TRANSFORMS_BASE_VISITOR_H
