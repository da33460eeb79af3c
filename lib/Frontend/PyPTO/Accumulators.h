// Tensors that a kernel accumulates products in, over loops and branches.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_ACCUMULATORS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_ACCUMULATORS_H

#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <map>
#include <set>

namespace pto_mlir::pypto_frontend {

/// Variables that are one accumulator: what a loop carries, a branch gives and pl.matmul_acc adds to.
class Accumulators : public pypto::ir::IRVisitor {
public:
  /// Whether a tensor is one of a product: it lies in L0C.
  bool has(const pypto::ir::Var *var) const { return products.count(root(var)) != 0; }
  void add(const pypto::ir::Var *var, const pypto::ir::Var *like) { parents[var] = root(like); }

protected:
  void VisitStmt_(const pypto::ir::AssignStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::ForStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::WhileStmtPtr &op) override;
  void VisitStmt_(const pypto::ir::IfStmtPtr &op) override;

private:
  const pypto::ir::Var *root(const pypto::ir::Var *var) const;
  void join(const pypto::ir::ExprPtr &a, const pypto::ir::ExprPtr &b);
  template <class Loop> void joinLoop(const Loop &op);

  std::map<const pypto::ir::Var *, const pypto::ir::Var *> parents;
  std::set<const pypto::ir::Var *> products;
};

/// A copy of statements with variables of its own; `made` is told each of them and the one that it stands for.
pypto::ir::StmtPtr withFreshVariables(const pypto::ir::StmtPtr &stmt,
                                      std::function<void(const pypto::ir::VarPtr &, const pypto::ir::VarPtr &)> made);

} // namespace pto_mlir::pypto_frontend

#endif
