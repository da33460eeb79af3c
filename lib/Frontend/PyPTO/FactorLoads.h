// Loads of factors of products: those that L1 does not hold stay in global memory until a part is needed.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_FACTORLOADS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_FACTORLOADS_H

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pto_mlir::pypto_frontend {

bool isTileProduct(std::string_view op);

/// What reads each variable of a body.
class Readers : public pypto::ir::IRVisitor {
public:
  std::map<const pypto::ir::Var *, std::vector<std::string>> of; ///< operations that have it as operand
  std::map<const pypto::ir::Var *, size_t> reads;                ///< all of them

protected:
  void VisitExpr_(const pypto::ir::CallPtr &op) override;
  void VisitExpr_(const pypto::ir::VarPtr &op) override { ++reads[op.get()]; }
  void VisitDef(const pypto::ir::VarPtr &var) override;
};

/// A tile in Mat that is loaded, as it is or seen transposed.
struct FactorLoad {
  pypto::ir::CallPtr load;
  const pypto::ir::Var *tile = nullptr; ///< what the load itself gives
  bool isTransposed = false;
};

class FactorLoads : public Readers {
public:
  /// Looks at a body, for a core with that much L1.
  void collect(const pypto::ir::StmtPtr &body, int64_t l1Bytes);
  /// Where a tile is loaded, if its parts are to be loaded one by one; null for other tiles. They are factors of
  /// products only, of tensors that the body does not write.
  const FactorLoad *streamed(const pypto::ir::Var *tile) const;

protected:
  void VisitExpr_(const pypto::ir::CallPtr &op) override;
  void VisitStmt_(const pypto::ir::AssignStmtPtr &op) override;
  void VisitDef(const pypto::ir::VarPtr &var) override;

private:
  bool isOnlyFactor(const pypto::ir::Var *load) const;

  std::map<const pypto::ir::Var *, FactorLoad> loads;                              ///< of loaded tiles and their views
  std::vector<std::pair<const pypto::ir::Var *, const pypto::ir::Var *>> products; ///< factors
  std::set<const pypto::ir::Var *> bound, written, left;
};

} // namespace pto_mlir::pypto_frontend

#endif
