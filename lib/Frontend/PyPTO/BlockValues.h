// What the phases of blocks compute for themselves, share, and hand to one another.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKVALUES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKVALUES_H

#include "BlockMemory.h"
#include "Plan.h"

namespace pto_mlir::pypto_frontend {

/// The variables that a statement binds for those behind it.
std::vector<ir::VarPtr> boundBy(const ir::StmtPtr &stmt);
/// Whether a statement holds a scope of a kernel.
bool holdsKernel(const ir::StmtPtr &stmt);
/// Whether a value follows from the block's number, or how many there are.
bool dependsOnBlock(const ir::ExprPtr &value);

/// The values of a scope of blocks that is cut into phases.
class BlockValues {
public:
  using Assignment = std::shared_ptr<const ir::AssignStmt>;

  /// `ofScopes`: the body is of scopes of kernels, each of which is a phase.
  BlockValues(const ir::ExprPtr &blocks, const ir::StmtPtr &body, bool ofScopes);

  /// Whether phases begin and end in a statement.
  bool endsPhases(const ir::StmtPtr &stmt) const;
  /// How each phase that reads a value computes it for itself; null where one phase does for all.
  Assignment repeated(const ir::Var *var) const;
  /// Whether one phase computes a value that is not repeated.
  bool isOfPhase(const ir::VarPtr &var) const { return phaseOf.count(var.get()) != 0; }
  /// Whether it is a tensor that blocks do not make.
  bool isShared(const ir::VarPtr &var) const {
    return ir::IsA<ir::TensorType>(var->type_) && shared.count(rootOf(roots, var.get()));
  }
  /// Whether each block has its own of what a loop or branch hands on.
  bool isOwn(const ir::VarPtr &var) const { return ir::ShapeOf(var->type_) && !isShared(var); }
  /// Whether it is an operand of products, which each phase that reads it has for itself.
  bool isRepeatedOperand(const ir::VarPtr &var) const { return isForCube(var) && repeatable.count(var.get()); }
  /// What a view is of.
  const ir::Var *viewed(const ir::Var *var) const;
  /// What a loop or branch around a barrier hands on. Fails where it has no name.
  static ir::VarPtr variable(const ir::ExprPtr &value);

  BlockMemory memory; ///< what a later phase reads

private:
  void find(const ir::StmtPtr &stmts);
  void findUses(const ir::StmtPtr &stmt);
  void use(const ir::VarPtr &var);
  void need(const ir::VarPtr &var);
  void keepCarried(const ir::StmtPtr &stmt);
  static bool isForCube(const ir::VarPtr &var);
  bool isSameAgain(const ir::Call &call) const;
  bool isRepeatable(const ir::AssignStmt &assign) const;

  bool ofScopes;
  TensorRoots roots;
  std::set<const ir::Var *> shared;  ///< that blocks do not make
  std::set<const ir::Var *> written; ///< roots that blocks write
  size_t phase = 0;
  std::map<const ir::Var *, size_t> phaseOf;        ///< what a phase computes
  std::map<const ir::Var *, Assignment> repeatable; ///< what each phase computes for itself
};

} // namespace pto_mlir::pypto_frontend

#endif
