// Variables are bound once and before they are read; calls name functions that are there.
#include "pypto/ir/verify.h"

#include "pypto/core/error.h"
#include "pypto/ir/transforms/base/visitor.h"

#include <unordered_set>

namespace pypto::ir {
namespace {

class ScopeChecker : public IRVisitor {
public:
  ScopeChecker(const Function &function, const Program *program) : function(function), program(program) {
    for (const VarPtr &param : function.params_)
      bind(param);
    for (const VarPtr &param : function.params_)
      if (const std::vector<ExprPtr> *shape = ShapeOf(param->type_))
        for (const ExprPtr &extent : *shape)
          bindSymbols(extent);
    VisitStmt(function.body_);
  }

protected:
  void VisitExpr_(const VarPtr &op) override { read(*op); }
  void VisitExpr_(const IterArgPtr &op) override { read(*op); }
  void VisitExpr_(const CallPtr &op) override {
    checkCallee(*op);
    IRVisitor::VisitExpr_(op);
  }
  void VisitExpr_(const SubmitPtr &op) override {
    checkCallee(*op);
    IRVisitor::VisitExpr_(op);
  }
  void VisitStmt_(const AssignStmtPtr &op) override {
    VisitExpr(op->value_);
    if (auto tile = As<TileType>(op->var_->type_); tile && tile->memref_ && (*tile->memref_)->slot_)
      VisitExpr((*tile->memref_)->slot_);
    bind(op->var_);
  }
  void VisitStmt_(const IfStmtPtr &op) override {
    VisitExpr(op->condition_);
    body(op->then_body_);
    if (op->else_body_)
      body(*op->else_body_);
    bindAll(op->return_vars_);
  }
  void VisitStmt_(const ForStmtPtr &op) override {
    for (const ExprPtr &bound : {op->start_, op->stop_, op->step_})
      VisitExpr(bound);
    for (const auto &[name, value] : op->attrs_)
      if (auto *expr = std::get_if<ExprPtr>(&value))
        VisitExpr(*expr);
    size_t outside = bound.size();
    bindCarried(op->iter_args_);
    bind(op->loop_var_);
    VisitStmt(op->body_);
    leave(outside);
    bindAll(op->return_vars_);
  }
  void VisitStmt_(const WhileStmtPtr &op) override {
    size_t outside = bound.size();
    bindCarried(op->iter_args_);
    VisitExpr(op->condition_);
    VisitStmt(op->body_);
    leave(outside);
    bindAll(op->return_vars_);
  }
  // What a scope binds is visible behind it; its lane is bound where it begins.
  void VisitDef(const VarPtr &var) override { bind(var); }
  void VisitStmt_(const SplitAivScopeStmtPtr &op) override {
    bind(op->lane_);
    VisitStmt(op->body_);
  }

private:
  void body(const StmtPtr &stmts) {
    size_t outside = bound.size();
    VisitStmt(stmts);
    leave(outside);
  }
  void leave(size_t outside) {
    for (; bound.size() > outside; bound.pop_back())
      visible.erase(bound.back());
  }
  void bind(const VarPtr &var) {
    CHECK(everBound.insert(var.get()).second) << function.name_ << ": " << var->name_hint_ << " is bound twice";
    visible.insert(var.get());
    bound.push_back(var.get());
  }
  template <class T> void bindAll(const std::vector<T> &variables) {
    for (const T &var : variables)
      bind(var);
  }
  void bindCarried(const std::vector<IterArgPtr> &carried) {
    for (const IterArgPtr &arg : carried)
      VisitExpr(arg->initValue_);
    bindAll(carried);
  }
  void bindSymbols(const ExprPtr &extent) {
    if (auto binary = As<BinaryExpr>(extent)) {
      bindSymbols(binary->left_);
      bindSymbols(binary->right_);
    } else if (auto var = As<Var>(extent); var && !visible.contains(var.get())) {
      bind(var);
    }
  }
  void read(const Var &var) {
    CHECK(visible.contains(&var)) << function.name_ << ": " << var.name_hint_
                                  << (everBound.contains(&var) ? " is read outside the body that binds it"
                                                               : " is read before it is bound");
  }
  void checkCallee(const Call &call) {
    if (!program || !IsA<GlobalVar>(call.op_))
      return;
    FunctionPtr callee = program->GetFunction(call.op_->name_);
    CHECK(callee) << function.name_ << ": the program has no function " << call.op_->name_;
    CHECK(callee->params_.size() == call.args_.size())
        << function.name_ << ": " << callee->name_ << " takes " << callee->params_.size() << " arguments, not "
        << call.args_.size();
  }

  const Function &function;
  const Program *program;
  std::unordered_set<const Var *> visible, everBound;
  std::vector<const Var *> bound; // in order; what is visible
};

} // namespace

void VerifyFunction(const FunctionPtr &function) { ScopeChecker(*function, nullptr); }

void VerifyProgram(const ProgramPtr &program) {
  for (const FunctionPtr &function : program->functions_)
    ScopeChecker(*function, program.get());
}

} // namespace pypto::ir
