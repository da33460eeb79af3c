// Statements with other expressions in the place of some of their variables.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_RENAMER_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_RENAMER_H

#include "pypto/ir/transforms/base/mutator.h"

#include <map>

namespace pto_mlir::pypto_frontend {

/// Other expressions in the place of the variables that have some.
class Renamer : public pypto::ir::IRMutator {
public:
  std::map<const pypto::ir::Var *, pypto::ir::ExprPtr> names;

protected:
  pypto::ir::ExprPtr VisitExpr_(const pypto::ir::VarPtr &op) override { return renamed(op); }
  pypto::ir::ExprPtr VisitExpr_(const pypto::ir::IterArgPtr &op) override { return renamed(op); }

private:
  template <class VarPtr> pypto::ir::ExprPtr renamed(const VarPtr &op) {
    auto found = names.find(op.get());
    return found == names.end() ? pypto::ir::IRMutator::VisitExpr_(op) : found->second;
  }
};

} // namespace pto_mlir::pypto_frontend

#endif
