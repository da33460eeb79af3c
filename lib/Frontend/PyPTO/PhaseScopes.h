// The scopes that phases of blocks become.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_PHASESCOPES_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_PHASESCOPES_H

#include "BlockValues.h"
#include "Renamer.h"

namespace pto_mlir::pypto_frontend {

/// Makes the scope of one phase after another: what the phase reads of earlier ones comes from the memory of blocks,
/// and what later ones read goes there.
class PhaseScopes {
public:
  using Stmts = std::vector<ir::StmtPtr>;

  /// `kernel`: of the blocks; null where they have several, or none of their own.
  PhaseScopes(const ir::SpmdScopeStmt &scope, ir::InCoreScopeStmtPtr kernel, BlockValues &values)
      : kernel(std::move(kernel)), scope(scope), values(values), memory(values.memory) {}

  /// An argument of a loop is in the memory of its result.
  void carry(const ir::Stmt &loop, const ir::Var &arg, const ir::Var &result) { carriedBy[&arg] = {&loop, &result}; }
  /// The values that go to the memory of loops and branches at the end of a phase, all of which are computed there.
  /// `loop`: whose turn ends; null for a branch, and in front of a loop.
  void handOn(const std::vector<ir::ExprPtr> &handed, const std::vector<ir::VarPtr> &results, const ir::Stmt *loop);
  /// Ends a phase of these statements: its scope goes to `out`, `run` is empty then.
  void close(Stmts &run, const ir::Span &span, Stmts &out);

  ir::InCoreScopeStmtPtr kernel; ///< of the phase; null where the body is that of the scope itself

private:
  bool isNothing(const Stmts &run) const;
  Stmts withoutUnread(const Stmts &stmts) const;
  Stmts withStores(const Stmts &run, std::set<const ir::Var *> &own, bool &knowsBlock);
  void storeHandedOn(Stmts &stmts, std::set<const ir::Var *> &own);
  void prepare(const Stmts &stmts, std::set<const ir::Var *> &own, const ir::Span &span, Stmts &before,
               Renamer &renamer);
  ir::StmtPtr blocks(ir::StmtPtr stmts);

  const ir::SpmdScopeStmt &scope;
  BlockValues &values;
  BlockMemory &memory;
  int made = 0;     ///< scopes
  ir::VarPtr block; ///< the block's number in the phase that is made
  /// Arguments of loops in the memory of blocks: the loop, and its result in the same place.
  std::map<const ir::Var *, std::pair<const ir::Stmt *, const ir::Var *>> carriedBy;
  std::vector<std::pair<ir::VarPtr, ir::VarPtr>> handedOn; ///< values and whose memory they go to, in this phase
  struct Copied {
    ir::VarPtr value, copy, result;
  };
  std::vector<Copied> copiedOn; ///< the same by way of a copy
};

} // namespace pto_mlir::pypto_frontend

#endif
