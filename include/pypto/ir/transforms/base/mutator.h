// A walk over a program that makes another one.
#ifndef PYPTO_IR_TRANSFORMS_BASE_MUTATOR_H
#define PYPTO_IR_TRANSFORMS_BASE_MUTATOR_H

#include "pypto/ir/program.h"

#include <unordered_map>

namespace pypto::ir {

/// Gives what it was given where nothing changes, else a copy with the changed fields: unchanged parts are shared.
/// Types are kept.
class IRMutator {
public:
  virtual ~IRMutator() = default;

  virtual ProgramPtr VisitProgram(const ProgramPtr &program);
  virtual FunctionPtr VisitFunction(const FunctionPtr &function);
  virtual ExprPtr VisitExpr(const ExprPtr &expr);
  virtual StmtPtr VisitStmt(const StmtPtr &stmt);

protected:
#define PYPTO_VISIT(Name, ...) virtual ExprPtr VisitExpr_(const Name##Ptr &op);
  PYPTO_EXPRS(PYPTO_VISIT)
#undef PYPTO_VISIT
#define PYPTO_VISIT(Name, ...) virtual StmtPtr VisitStmt_(const Name##Ptr &op);
  PYPTO_STMTS(PYPTO_VISIT)
#undef PYPTO_VISIT
  virtual ExprPtr VisitBinaryExpr_(const BinaryExprPtr &op);
  virtual ExprPtr VisitUnaryExpr_(const UnaryExprPtr &op);
  virtual StmtPtr VisitScopeStmt_(const ScopeStmtPtr &op);
  /// Where a node binds a variable: the variable to bind instead, which later uses are replaced by. An IterArg stays an
  /// IterArg. By default an IterArg changes when what it begins with does, and a tile when its slot does.
  virtual VarPtr VisitDef(const VarPtr &var);

private:
  friend struct MutateFieldsOf;
  VarPtr WithSlot(const VarPtr &var);
  std::unordered_map<const Var *, VarPtr> replaced_;
};

} // namespace pypto::ir

#endif // PYPTO_IR_TRANSFORMS_BASE_MUTATOR_H
