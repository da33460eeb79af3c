// Scopes of products and vector operations on tensors: one kernel for each run of statements of one kind of core.
#include "TensorsToTiles.h"

#include "Plan.h"

#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

bool isProduct(const ir::Call &call) { return call.op_->name_ == "tensor.matmul"; }

/// What the operations on tensors below a statement need.
class Cores : public ir::IRVisitor {
public:
  bool cube = false, vector = false, stores = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    const std::string &name = op->op_->name_;
    bool moves = llvm::is_contained({"tensor.slice", "tensor.assemble", "tensor.dim", "tensor.read"}, name);
    cube |= isProduct(*op);
    vector |= name.starts_with("tensor.") && !moves && !isProduct(*op);
    vector |= name.starts_with("tile.") && name != "tile.store";
    stores |= name == "tensor.assemble" || name == "tensor.read" || name.starts_with("tile.");
    ir::IRVisitor::VisitExpr_(op);
  }
};

/// Products inside other calls as statements of their own.
class ProductHoister : public ir::IRMutator {
public:
  std::vector<ir::StmtPtr> before;
  ir::ExprPtr top; ///< the value of the statement, which stays

protected:
  ir::ExprPtr VisitExpr_(const ir::CallPtr &op) override {
    bool stays = op == top;
    ir::ExprPtr made = ir::IRMutator::VisitExpr_(op);
    auto call = ir::As<ir::Call>(made);
    if (stays || !call || !isProduct(*call))
      return made;
    auto var = std::make_shared<const ir::Var>("product", call->type_, call->span_);
    before.push_back(std::make_shared<const ir::AssignStmt>(var, call, call->span_));
    return var;
  }
};

class Splitter : public ir::IRMutator {
protected:
  ir::StmtPtr VisitStmt_(const ir::InCoreScopeStmtPtr &op) override {
    Cores cores;
    cores.VisitStmt(op->body_);
    return cores.cube && cores.vector ? split(*op) : op;
  }

private:
  using Stmts = std::vector<ir::StmtPtr>;

  static Stmts hoisted(const ir::StmtPtr &body) {
    Stmts stmts;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(body)) {
      ProductHoister hoister;
      if (auto assign = ir::As<ir::AssignStmt>(stmt))
        hoister.top = assign->value_;
      bool isPlain = ir::IsA<ir::AssignStmt>(stmt) || ir::IsA<ir::EvalStmt>(stmt);
      ir::StmtPtr made = isPlain ? hoister.VisitStmt(stmt) : stmt;
      stmts.insert(stmts.end(), hoister.before.begin(), hoister.before.end());
      stmts.push_back(made);
    }
    return stmts;
  }

  ir::StmtPtr split(const ir::InCoreScopeStmt &scope) {
    Stmts result, run;
    std::set<const ir::Var *> bound; // by `run`
    bool isCube = false;
    auto close = [&] {
      if (run.empty())
        return;
      ir::StmtPtr body = std::make_shared<const ir::SeqStmts>(std::move(run), scope.span_);
      result.push_back(
          std::make_shared<const ir::InCoreScopeStmt>(body, scope.name_hint_, std::nullopt, scope.attrs_, scope.span_));
      run.clear();
      bound.clear();
    };
    for (const ir::StmtPtr &stmt : hoisted(scope.body_)) {
      Cores cores;
      cores.VisitStmt(stmt);
      bool readsRun = llvm::any_of(freeVariables(stmt), [&](const ir::VarPtr &var) { return bound.count(var.get()); });
      auto assign = ir::As<ir::AssignStmt>(stmt);
      if (!cores.cube && !cores.vector && !cores.stores && assign && !readsRun) {
        result.push_back(stmt); // numbers and views, which the orchestrator has as well
        continue;
      }
      bool decides = cores.cube || cores.vector;
      if (decides && !run.empty() && cores.cube != isCube)
        close();
      if (decides || run.empty())
        isCube = cores.cube;
      run.push_back(stmt);
      if (assign)
        bound.insert(assign->var_.get());
    }
    close();
    return std::make_shared<const ir::SeqStmts>(std::move(result), scope.span_);
  }
};

} // namespace

ir::FunctionPtr splitMixedScopes(const ir::FunctionPtr &orchestrator) { return Splitter().VisitFunction(orchestrator); }

} // namespace pto_mlir::pypto_frontend
