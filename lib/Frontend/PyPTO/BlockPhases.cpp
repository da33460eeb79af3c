#include "BlockPhases.h"

#include "PhaseScopes.h"

#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Stmts = std::vector<ir::StmtPtr>;

class BarrierFinder : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    found |= op->op_->name_ == "system.syncall";
    ir::IRVisitor::VisitExpr_(op);
  }
};

class Phases {
public:
  /// `ofScopes`: the body is of scopes of kernels, each of which is a phase.
  Phases(const ir::SpmdScopeStmt &scope, bool ofScopes) : Phases(scope, kernelOf(scope, ofScopes), ofScopes) {}

  ir::StmtPtr run() {
    Stmts phases;
    cut(body, phases);
    Stmts all = std::move(values.memory.created);
    llvm::append_range(all, phases);
    return sequence(std::move(all), span);
  }

private:
  Phases(const ir::SpmdScopeStmt &scope, const ir::InCoreScopeStmtPtr &kernel, bool ofScopes)
      : span(scope.span_), ofScopes(ofScopes), body(kernel ? kernel->body_ : scope.body_),
        values(scope.core_num_, body, ofScopes), scopes(scope, kernel, values) {}
  static ir::InCoreScopeStmtPtr kernelOf(const ir::SpmdScopeStmt &scope, bool ofScopes) {
    return ofScopes ? nullptr : ir::KernelOfBlocks(scope);
  }

  void cut(const ir::StmtPtr &stmts, Stmts &out) {
    Stmts run;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(stmts)) {
      if (isBarrier(stmt)) {
        scopes.close(run, stmt->span_, out);
      } else if (auto inner = ir::As<ir::InCoreScopeStmt>(stmt); inner && ofScopes) {
        scopes.close(run, stmt->span_, out);
        scopes.kernel = inner;
        run = ir::FlattenStmts(inner->body_);
        scopes.close(run, stmt->span_, out);
        scopes.kernel = nullptr;
      } else if (values.endsPhases(stmt)) {
        if (auto loop = ir::As<ir::ForStmt>(stmt)) {
          std::vector<ir::ExprPtr> starts;
          for (const ir::IterArgPtr &arg : loop->iter_args_)
            starts.push_back(arg->initValue_);
          scopes.handOn(starts, loop->return_vars_, nullptr);
        }
        scopes.close(run, stmt->span_, out);
        out.push_back(around(stmt, out));
      } else {
        run.push_back(stmt);
      }
    }
    auto yield = run.empty() ? nullptr : ir::As<ir::YieldStmt>(run.back());
    if (yield) {
      run.pop_back();
      scopes.handOn(yield->value_, results, loopOfResults);
    }
    scopes.close(run, stmts->span_, out);
    if (yield) {
      std::vector<ir::ExprPtr> given;
      for (auto [value, result] : llvm::zip_equal(yield->value_, results))
        if (!values.isOwn(result))
          given.push_back(ofOrchestrator(value, yield->span_, out));
      if (!given.empty() || yield->value_.empty())
        out.push_back(std::make_shared<const ir::YieldStmt>(given, yield->span_));
    }
  }

  ir::StmtPtr inner(const ir::StmtPtr &stmts, const ir::StmtPtr &outer) {
    auto outerResults = std::exchange(results, boundBy(outer));
    auto *outerLoop = std::exchange(loopOfResults, ir::IsA<ir::ForStmt>(outer) ? outer.get() : nullptr);
    Stmts made;
    cut(stmts, made);
    results = std::move(outerResults), loopOfResults = outerLoop;
    return sequence(std::move(made), stmts->span_);
  }

  /// A loop or a branch of the orchestrator, with phases inside.
  ir::StmtPtr around(const ir::StmtPtr &stmt, Stmts &out) {
    std::vector<ir::VarPtr> kept;
    llvm::copy_if(boundBy(stmt), std::back_inserter(kept), [&](const ir::VarPtr &var) { return !values.isOwn(var); });
    if (auto branch = ir::As<ir::IfStmt>(stmt)) {
      ir::ExprPtr condition = ofOrchestrator(branch->condition_, stmt->span_, out);
      std::optional<ir::StmtPtr> other;
      if (branch->else_body_)
        other = inner(*branch->else_body_, stmt);
      return std::make_shared<const ir::IfStmt>(condition, inner(branch->then_body_, stmt), other, kept, stmt->span_);
    }
    auto loop = ir::As<ir::ForStmt>(stmt);
    ir::ExprPtr bounds[] = {loop->start_, loop->stop_, loop->step_};
    for (ir::ExprPtr &bound : bounds)
      bound = ofOrchestrator(bound, stmt->span_, out);
    std::vector<ir::IterArgPtr> args;
    for (auto [arg, result] : llvm::zip_equal(loop->iter_args_, loop->return_vars_)) {
      if (values.isOwn(result))
        scopes.carry(*stmt, *arg, *result);
      else
        args.push_back(arg);
    }
    return std::make_shared<const ir::ForStmt>(loop->loop_var_, bounds[0], bounds[1], bounds[2], args,
                                               inner(loop->body_, stmt), kept, loop->span_);
  }

  /// A value for the orchestrator, which computes what it needs of the block's numbers by itself.
  ir::ExprPtr ofOrchestrator(const ir::ExprPtr &value, const ir::Span &span, Stmts &out) {
    Renamer renamer;
    auto use = std::make_shared<const ir::EvalStmt>(value, span);
    for (const ir::VarPtr &var : freeVariables(use)) {
      if (values.isOfPhase(var) && !values.isShared(var))
        fail(span, var->name_hint_ + " decides about a barrier between blocks, but only a block knows it");
      BlockValues::Assignment assign = values.repeated(var.get());
      if (!assign)
        continue;
      ir::ExprPtr computed = ofOrchestrator(assign->value_, assign->span_, out);
      auto fresh = std::make_shared<const ir::Var>(var->name_hint_, var->type_, var->span_);
      out.push_back(std::make_shared<const ir::AssignStmt>(fresh, computed, assign->span_));
      renamer.names[var.get()] = fresh;
    }
    if (dependsOnBlock(value))
      fail(span, "the block's number decides about a barrier between blocks, so that some would not come to it");
    return renamer.VisitExpr(value);
  }

  ir::Span span;
  bool ofScopes;
  ir::StmtPtr body;
  BlockValues values;
  PhaseScopes scopes;
  std::vector<ir::VarPtr> results;         ///< of the loop or branch that is made
  const ir::Stmt *loopOfResults = nullptr; ///< null in a branch
};

/// Scopes of blocks with a kernel each.
class KernelPhases : public ir::IRMutator {
protected:
  ir::StmtPtr VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    auto blocks = ir::As<ir::SpmdScopeStmt>(op);
    bool hasSeveral = blocks && !ir::KernelOfBlocks(*blocks) && holdsKernel(blocks->body_);
    return hasSeveral ? Phases(*blocks, /*ofScopes=*/true).run() : ir::IRMutator::VisitScopeStmt_(op);
  }
};

} // namespace

bool isBarrier(const ir::StmtPtr &stmt) {
  auto call = ir::As<ir::Call>(expressionOf(stmt));
  return call && call->op_->name_ == "system.syncall";
}

bool holdsBarrier(const ir::StmtPtr &stmt) {
  BarrierFinder finder;
  finder.VisitStmt(stmt);
  return finder.found;
}

ir::StmtPtr cutAtBarriers(const ir::SpmdScopeStmt &scope) { return Phases(scope, /*ofScopes=*/false).run(); }

ir::FunctionPtr cutAtKernels(const ir::FunctionPtr &orchestrator) { return KernelPhases().VisitFunction(orchestrator); }

} // namespace pto_mlir::pypto_frontend
