// The walk of tensorsToTiles over one kernel.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_TILER_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_TILER_H

#include "Plan.h"
#include "TensorsToTiles.h"

#include "pypto/ir/op_registry.h"

#include <functional>

namespace pto_mlir::pypto_frontend {

/// Part of a tensor in global memory; `shape` without the axes that a subscript dropped.
struct Window {
  pypto::ir::VarPtr tensor;
  std::vector<pypto::ir::ExprPtr> offsets, extents, shape;
};

class Tiler {
public:
  using Stmts = std::vector<pypto::ir::StmtPtr>;

  explicit Tiler(const isa::ArchInfo &arch) : arch(arch) {}

  /// The body with tiles; tensors that it computes are then known to `resultOf`.
  pypto::ir::StmtPtr run(const pypto::ir::StmtPtr &body);
  /// The tile that holds a computed tensor, or null for a tensor in global memory.
  pypto::ir::VarPtr tileOf(const pypto::ir::Var *tensor) const;
  /// A store of the whole tile.
  static pypto::ir::StmtPtr storeOf(const pypto::ir::VarPtr &tile, const pypto::ir::VarPtr &tensor);

private:
  // Statements (TensorsToTiles.cpp).
  Stmts body(const pypto::ir::StmtPtr &stmt, std::vector<pypto::ir::ExprPtr> *yields);
  void statement(const pypto::ir::StmtPtr &stmt);
  void assign(const pypto::ir::AssignStmt &stmt);
  void branch(const pypto::ir::IfStmt &stmt);
  template <class Loop>
  void loop(const Loop &stmt, std::vector<pypto::ir::IterArgPtr> &args, std::vector<pypto::ir::VarPtr> &results,
            Stmts &stmts);
  void alias(const pypto::ir::VarPtr &var, const pypto::ir::VarPtr &of);
  pypto::ir::ExprPtr rewritten(const pypto::ir::ExprPtr &expr);

  // Operations (TileOps.cpp). Each gives the tile of its result; null: the call stays as it is.
  pypto::ir::VarPtr compute(const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr elementwise(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr byName(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  pypto::ir::VarPtr product(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  pypto::ir::CallPtr assembled(const pypto::ir::OpView &view, const pypto::ir::CallPtr &call);
  std::optional<Window> sliced(const pypto::ir::OpView &view) const;
  std::optional<Window> windowOf(const pypto::ir::ExprPtr &tensor) const;
  pypto::ir::VarPtr tile(const pypto::ir::ExprPtr &operand);
  pypto::ir::VarPtr load(const Window &window);
  pypto::ir::VarPtr reshaped(const pypto::ir::VarPtr &tile, const std::vector<pypto::ir::ExprPtr> &shape);
  pypto::ir::VarPtr bind(const pypto::ir::CallPtr &call);
  pypto::ir::CallPtr make(std::string_view op, std::vector<pypto::ir::ExprPtr> operands,
                          pypto::ir::Attrs keywords = {});

  const isa::ArchInfo &arch;
  Stmts *out = nullptr;
  pypto::ir::Span place = pypto::ir::Span::unknown();
  std::string name; ///< of the variable that is being computed
  std::map<const pypto::ir::Var *, pypto::ir::VarPtr> tiles;
  std::map<const pypto::ir::Var *, Window> windows;
};

} // namespace pto_mlir::pypto_frontend

#endif
