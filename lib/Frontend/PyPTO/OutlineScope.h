// A scope of an orchestrator as a kernel.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_OUTLINESCOPE_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_OUTLINESCOPE_H

#include "pto_mlir/ISA/Table.h"
#include "pypto/ir/function.h"

namespace pto_mlir::pypto_frontend {

/// A body with a parameter for each variable that it reads and does not bind (`inputs`). Two of them may have one name;
/// parameters have names of their own.
struct OutlinedBody {
  explicit OutlinedBody(const pypto::ir::StmtPtr &body);
  bool hasParam(const std::string &name) const;

  std::vector<pypto::ir::VarPtr> inputs, params;
  pypto::ir::StmtPtr body; ///< reads the parameters
};

/// Its parameters are `inputs`, then `results`, which it computes.
struct OutlinedScope {
  pypto::ir::FunctionPtr function;
  std::vector<pypto::ir::VarPtr> inputs, results;
};

/// The scope number `number` of `entry`, with its products cut for the memories of `arch`.
OutlinedScope outlineScope(const std::shared_ptr<const pypto::ir::InCoreScopeStmt> &scope,
                           const pypto::ir::Function &entry, size_t number, const isa::ArchInfo &arch);

} // namespace pto_mlir::pypto_frontend

#endif
