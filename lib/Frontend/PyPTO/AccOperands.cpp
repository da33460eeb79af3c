// Moves of tiles in Acc to where the vector cores read them.
#include "AccOperands.h"

#include "Forms.h"
#include "TileBuilder.h"
#include "TileNodes.h"

#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <set>

namespace pto_mlir::pypto_frontend {
namespace {

bool isInAcc(const ir::TypePtr &type) {
  auto tile = ir::As<ir::TileType>(type);
  return tile && tile->GetMemorySpace() == ir::MemorySpace::Acc && !tile->OwnBuffer();
}

bool runsOnVectors(const ir::Call &call) {
  ir::OpView view(call);
  const Form *form = view.row() ? findForm(view.row()->pto) : nullptr;
  return form && form->onVectors && call.op_->name_ != "tile.cast";
}

ir::TypePtr inVec(const ir::TypePtr &type) {
  auto tile = ir::As<ir::TileType>(type);
  std::optional<ir::TileView> view;
  if (tile->tile_view_) {
    view = ir::DefaultTileView(ir::MemorySpace::Vec, tile->shape_);
    view->valid_shape = tile->tile_view_->valid_shape;
  }
  return std::make_shared<const ir::TileType>(tile->shape_, tile->dtype_, std::nullopt, std::move(view),
                                              ir::MemorySpace::Vec);
}

/// Variables that are said to lie in Acc, but hold what vector cores compute: by operations, loops and branches.
class VectorResults : public ir::IRVisitor {
public:
  std::set<const ir::Var *> found;

protected:
  void VisitStmt_(const ir::AssignStmtPtr &op) override {
    auto call = ir::As<ir::Call>(op->value_);
    if (isInAcc(op->var_->type_) && (call ? runsOnVectors(*call) : has(op->value_)))
      found.insert(op->var_.get());
    ir::IRVisitor::VisitStmt_(op);
  }
  void VisitStmt_(const ir::ForStmtPtr &op) override { loop(*op); }
  void VisitStmt_(const ir::WhileStmtPtr &op) override { loop(*op); }
  void VisitStmt_(const ir::IfStmtPtr &op) override {
    ir::IRVisitor::VisitStmt_(op);
    std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(op->then_body_);
    auto yield = stmts.empty() ? nullptr : ir::As<ir::YieldStmt>(stmts.back());
    for (size_t i = 0; yield && i < op->return_vars_.size(); ++i)
      if (has(yield->value_[i]))
        found.insert(op->return_vars_[i].get());
  }

private:
  bool has(const ir::ExprPtr &expr) const {
    auto var = ir::As<ir::Var>(expr);
    return var && found.count(var.get());
  }
  template <class Loop> void loop(const Loop &op) {
    for (size_t i = 0; i < op.iter_args_.size(); ++i)
      if (has(op.iter_args_[i]->initValue_)) {
        found.insert(op.iter_args_[i].get());
        if (i < op.return_vars_.size())
          found.insert(op.return_vars_[i].get());
      }
    VisitStmt(op.body_);
  }
};

class AccMover : public ir::IRMutator {
public:
  explicit AccMover(std::set<const ir::Var *> results) : results(std::move(results)) {}

protected:
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    auto call = ir::As<ir::Call>(ir::IRMutator::VisitExpr_(op));
    if (!runsOnVectors(*call))
      return call;
    std::vector<ir::ExprPtr> args;
    for (const ir::ExprPtr &arg : call->args_)
      args.push_back(isInAcc(arg->type_) ? moved(arg, call->span_) : arg);
    if (args == call->args_ && !isInAcc(call->type_))
      return call;
    auto made = std::make_shared<ir::Call>(call->op_, std::move(args), call->kwargs_,
                                           isInAcc(call->type_) ? inVec(call->type_) : call->type_, call->span_);
    made->attrs_ = call->attrs_;
    return made;
  }
  ir::VarPtr VisitDef(const ir::VarPtr &var) override {
    ir::VarPtr made = ir::IRMutator::VisitDef(var);
    if (!results.count(var.get()))
      return made;
    if (auto arg = ir::As<ir::IterArg>(made))
      return std::make_shared<const ir::IterArg>(arg->name_hint_, inVec(arg->type_), arg->initValue_, arg->span_);
    return std::make_shared<const ir::Var>(var->name_hint_, inVec(var->type_), var->span_);
  }

private:
  static ir::ExprPtr moved(const ir::ExprPtr &tile, const ir::Span &span) {
    ir::Attrs arguments{{"", tile}};
    for (const auto &keyword : in(ir::MemorySpace::Vec))
      arguments.push_back(keyword);
    return ir::CreateOp("tile.move", std::move(arguments), span);
  }

  std::set<const ir::Var *> results;
};

} // namespace

ir::StmtPtr moveAccOperands(const ir::StmtPtr &body) {
  VectorResults results;
  results.VisitStmt(body);
  return AccMover(std::move(results.found)).VisitStmt(body);
}

} // namespace pto_mlir::pypto_frontend
