// A kernel of vector cores that each do a part is one kernel of both.
#include "JoinLanes.h"

#include "CoreHomes.h"
#include "LaneDivision.h"
#include "TileNodes.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

class LaneCalls : public ir::IRVisitor {
public:
  bool exchanges = false, products = false, asks = false, nested = false;

protected:
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    nested = true;
    ir::IRVisitor::VisitScopeStmt_(op);
  }
  void VisitExpr_(const ir::CallPtr &op) override {
    llvm::StringRef name = op->op_->name_;
    exchanges |= isExchange(*op, "aiv_shard") || isExchange(*op, "aic_gather") || name.starts_with("system.");
    products |= isProductName(op->op_->name_);
    asks |= name == "tile.get_subblock_idx";
    ir::IRVisitor::VisitExpr_(op);
  }
};

LaneCalls callsOfLane(const ir::StmtPtr &stmt) {
  LaneCalls calls;
  calls.VisitStmt(stmt);
  return calls;
}

/// Numbers and views, which both cores have.
bool isOfBoth(const ir::StmtPtr &stmt) {
  auto assign = ir::As<ir::AssignStmt>(stmt);
  auto call = assign ? ir::As<ir::Call>(assign->value_) : nullptr;
  return ir::IsA<ir::ReturnStmt>(stmt) || (assign && ir::IsA<ir::ScalarType>(assign->var_->type_)) ||
         (call && call->op_->name_ == "tensor.slice");
}

class ScopeLanes : public ir::IRMutator {
protected:
  ir::StmtPtr VisitStmt_(const ir::InCoreScopeStmtPtr &op) override {
    ir::StmtPtr body = joinLanes(op->body_);
    return body == op->body_ ? ir::StmtPtr(op) : withBody(*op, body);
  }
  ir::StmtPtr VisitStmt_(const ir::SpmdScopeStmtPtr &op) override {
    ir::StmtPtr body = joinLanes(op->body_);
    if (body == op->body_)
      return ir::IRMutator::VisitStmt_(op);
    return withBody(*op, ir::StmtPtr(std::make_shared<const ir::InCoreScopeStmt>(body, op->name_hint_, std::nullopt,
                                                                                 ir::Attrs(), body->span_)));
  }
};

} // namespace

ir::StmtPtr joinLanes(const ir::StmtPtr &body) {
  std::vector<ir::StmtPtr> stmts;
  bool found = false;
  for (const ir::StmtPtr &stmt : ir::FlattenStmts(body)) {
    auto region = ir::As<ir::SplitAivScopeStmt>(stmt);
    if (!region) {
      if (!isOfBoth(stmt))
        return body;
      stmts.push_back(stmt);
      continue;
    }
    LaneCalls calls = callsOfLane(region->body_);
    if (std::exchange(found, true) || calls.exchanges || calls.products || calls.nested)
      return body;
    stmts.push_back(std::make_shared<const ir::AssignStmt>(
        region->lane_, ir::CreateOp("tile.get_subblock_idx", ir::Attrs(), region->span_), region->span_));
    llvm::append_range(stmts, ir::FlattenStmts(region->body_));
  }
  return found ? sequence(std::move(stmts), body->span_) : body;
}

ir::FunctionPtr joinLanesOfScopes(const ir::FunctionPtr &orchestrator) {
  return ScopeLanes().VisitFunction(orchestrator);
}

bool asksForLane(const ir::StmtPtr &body) { return callsOfLane(body).asks; }

} // namespace pto_mlir::pypto_frontend
