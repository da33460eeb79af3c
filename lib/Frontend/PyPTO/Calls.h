// What the statements of a function call.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_CALLS_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_CALLS_H

#include "pypto/ir/transforms/base/visitor.h"

namespace pto_mlir::pypto_frontend {

/// `found`: any operation; `asksForBlock`: its block's number or their count; `signals`: something between ranks;
/// `defers`: a wait that holds up only tasks that depend on it.
class Calls : public pypto::ir::IRVisitor {
public:
  bool found = false, asksForBlock = false, signals = false, defers = false;

protected:
  void VisitExpr_(const pypto::ir::CallPtr &op) override {
    found = true;
    signals |= op->op_->name_.starts_with("comm.");
    defers |= op->op_->name_ == "comm.defer_wait";
    asksForBlock |= op->op_->name_ == "tile.get_block_idx" || op->op_->name_ == "tile.get_block_num";
    pypto::ir::IRVisitor::VisitExpr_(op);
  }
};

} // namespace pto_mlir::pypto_frontend

#endif // PTO_MLIR_LIB_FRONTEND_PYPTO_CALLS_H
