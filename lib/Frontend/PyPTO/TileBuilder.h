// Appends operations on tiles to a body.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TILEBUILDER_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TILEBUILDER_H

#include "pypto/ir/op_registry.h"
#include "pypto/ir/stmt.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pto_mlir::pypto_frontend {

class TileBuilder {
public:
  using Stmts = std::vector<pypto::ir::StmtPtr>;

protected:
  pypto::ir::CallPtr make(std::string_view op, std::vector<pypto::ir::ExprPtr> operands,
                          pypto::ir::Attrs keywords = {});
  pypto::ir::VarPtr bind(const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr index(const char *hint) const;
  /// What `body` appends goes to statements of their own.
  Stmts apart(llvm::function_ref<void()> body);
  /// Runs `body` for parts of an extent: in a loop over the whole ones, then for the rest.
  void steps(int64_t extent, int64_t step, llvm::function_ref<void(pypto::ir::ExprPtr, int64_t)> body);
  /// A sum over parts of an extent: the first, which may be a short one, and a loop over the others. `body` gives the
  /// sum so far (null for the first), where the part begins and its size.
  pypto::ir::VarPtr
  summed(int64_t extent, int64_t step,
         llvm::function_ref<pypto::ir::VarPtr(pypto::ir::VarPtr, const pypto::ir::ExprPtr &, int64_t)> body);

  Stmts *out = nullptr;
  pypto::ir::Span place = pypto::ir::Span::unknown();
  std::string name; ///< of the variable that is being computed
};

/// Keywords that name a memory.
pypto::ir::Attrs in(pypto::ir::MemorySpace memory);
/// Whether a cast is what the way out of L0C does by itself.
bool narrowsProduct(const pypto::ir::OpView &cast);

} // namespace pto_mlir::pypto_frontend

#endif
