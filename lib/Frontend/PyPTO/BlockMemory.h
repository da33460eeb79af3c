// Memory for what one phase of a block hands to a later one.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKMEMORY_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_BLOCKMEMORY_H

#include "TileNodes.h"

#include <map>

namespace pto_mlir::pypto_frontend {

/// Tensors in global memory with a part for each block, which hold tiles, tensors and numbers between phases.
class BlockMemory {
public:
  explicit BlockMemory(ir::ExprPtr blocks) : blocks(std::move(blocks)) {}

  bool has(const ir::Var *var) const { return tensors.count(var) != 0; }
  /// Makes a tensor for a value.
  void add(const ir::VarPtr &var);
  /// `alias` is in the memory of a value that has some.
  void share(const ir::VarPtr &alias, const ir::VarPtr &var) { tensors[alias.get()] = tensors.at(var.get()); }

  /// Writes `value` to the memory of `var`; `block`: the number of the block.
  ir::StmtPtr stored(const ir::VarPtr &value, const ir::VarPtr &var, const ir::VarPtr &block) const;
  /// A tile of Acc comes back in Vec: nothing loads the accumulators.
  static ir::TypePtr typeOfLoaded(const ir::VarPtr &var);
  ir::ExprPtr loaded(const ir::VarPtr &var, const ir::VarPtr &block) const;

  std::vector<ir::StmtPtr> created; ///< the statements that make the tensors

private:
  ir::ExprPtr blocks;
  std::map<const ir::Var *, ir::VarPtr> tensors; ///< by the value in them
};

ir::ExprPtr product(const ir::ExprPtr &a, const ir::ExprPtr &b);

} // namespace pto_mlir::pypto_frontend

#endif
