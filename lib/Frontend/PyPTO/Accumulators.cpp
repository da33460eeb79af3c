// Which tensors accumulate products.
#include "Accumulators.h"

#include "pypto/ir/op_registry.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// What a body yields at its end.
std::vector<ir::ExprPtr> yieldsOf(const ir::StmtPtr &body) {
  std::vector<ir::StmtPtr> stmts = ir::FlattenStmts(body);
  auto yield = stmts.empty() ? nullptr : ir::As<ir::YieldStmt>(stmts.back());
  return yield ? yield->value_ : std::vector<ir::ExprPtr>();
}

class Fresh : public ir::IRMutator {
public:
  explicit Fresh(std::function<void(const ir::VarPtr &, const ir::VarPtr &)> made) : made(std::move(made)) {}

protected:
  ir::VarPtr VisitDef(const ir::VarPtr &var) override {
    ir::VarPtr fresh;
    if (auto arg = ir::As<ir::IterArg>(var))
      fresh = std::make_shared<const ir::IterArg>(var->name_hint_, var->type_, VisitExpr(arg->initValue_), var->span_);
    else
      fresh = std::make_shared<const ir::Var>(var->name_hint_, var->type_, var->span_);
    made(fresh, var);
    return fresh;
  }

private:
  std::function<void(const ir::VarPtr &, const ir::VarPtr &)> made;
};

} // namespace

const ir::Var *Accumulators::root(const ir::Var *var) const {
  for (auto found = parents.find(var); found != parents.end() && found->second != var; found = parents.find(var))
    var = found->second;
  return var;
}

void Accumulators::join(const ir::ExprPtr &a, const ir::ExprPtr &b) {
  auto first = ir::As<ir::Var>(a), second = ir::As<ir::Var>(b);
  if (!first || !second || !ir::IsA<ir::TensorType>(first->type_) || !ir::IsA<ir::TensorType>(second->type_))
    return;
  const ir::Var *one = root(first.get()), *other = root(second.get());
  if (one == other)
    return;
  parents[other] = one;
  if (products.count(other))
    products.insert(one);
}

void Accumulators::VisitStmt_(const ir::AssignStmtPtr &op) {
  auto call = ir::As<ir::Call>(op->value_);
  const std::string name = call ? call->op_->name_ : "";
  if (name == "tensor.matmul" || name == "tensor.matmul_acc" || name == "tensor.matmul_bias")
    products.insert(root(op->var_.get()));
  if (name == "tensor.matmul_acc")
    join(op->var_, call->args_[0]);
  if (ir::IsA<ir::Var>(op->value_))
    join(op->var_, op->value_);
}

template <class Loop> void Accumulators::joinLoop(const Loop &op) {
  VisitStmt(op.body_);
  std::vector<ir::ExprPtr> yields = yieldsOf(op.body_);
  for (size_t i = 0; i < op.iter_args_.size(); ++i) {
    join(op.iter_args_[i], op.iter_args_[i]->initValue_);
    if (i < yields.size())
      join(op.iter_args_[i], yields[i]);
    if (i < op.return_vars_.size())
      join(op.return_vars_[i], op.iter_args_[i]);
  }
}

void Accumulators::VisitStmt_(const ir::ForStmtPtr &op) { joinLoop(*op); }
void Accumulators::VisitStmt_(const ir::WhileStmtPtr &op) { joinLoop(*op); }

void Accumulators::VisitStmt_(const ir::IfStmtPtr &op) {
  std::vector<ir::StmtPtr> arms{op->then_body_};
  if (op->else_body_)
    arms.push_back(*op->else_body_);
  for (const ir::StmtPtr &arm : arms) {
    VisitStmt(arm);
    std::vector<ir::ExprPtr> yields = yieldsOf(arm);
    for (size_t i = 0; i < yields.size() && i < op->return_vars_.size(); ++i)
      join(op->return_vars_[i], yields[i]);
  }
}

ir::StmtPtr withFreshVariables(const ir::StmtPtr &stmt,
                               std::function<void(const ir::VarPtr &, const ir::VarPtr &)> made) {
  return Fresh(std::move(made)).VisitStmt(stmt);
}

} // namespace pto_mlir::pypto_frontend
