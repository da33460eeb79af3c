// The scopes of an orchestrator as functions, which it calls.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_OUTLINECALLS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_OUTLINECALLS_H

#include "pypto/ir/function.h"
#include "pypto/ir/transforms/base/mutator.h"

#include <set>

namespace pto_mlir::pypto_frontend {

/// A tensor that a scope computes is an output of its function, in memory that the orchestrator makes.
class CallOutliner : public pypto::ir::IRMutator {
public:
  /// `names`: of the program's functions, to which those that are made are added.
  CallOutliner(const pypto::ir::Function &entry, std::set<std::string> &names) : entry(entry), names(names) {}
  std::vector<pypto::ir::FunctionPtr> made;

protected:
  using Stmts = std::vector<pypto::ir::StmtPtr>;
  pypto::ir::StmtPtr VisitStmt_(const pypto::ir::SeqStmtsPtr &op) override;
  pypto::ir::StmtPtr VisitStmt_(const pypto::ir::InCoreScopeStmtPtr &op) override;

  /// Whether a scope becomes a function. Here: one that says no more about its task than its name.
  virtual bool isOutlined(const pypto::ir::InCoreScopeStmt &scope) const;
  /// Takes what a scope becomes; false: the scope stays.
  virtual bool take(const pypto::ir::FunctionPtr &function);

private:
  std::string nameOf(const pypto::ir::InCoreScopeStmt &scope);

  const pypto::ir::Function &entry;
  std::set<std::string> &names;
  size_t number = 0;
};

} // namespace pto_mlir::pypto_frontend

#endif
