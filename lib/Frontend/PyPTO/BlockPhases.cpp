#include "BlockPhases.h"

#include "Plan.h"
#include "TileNodes.h"
#include "Types.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/mutator.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Stmts = std::vector<ir::StmtPtr>;
using Assignment = std::shared_ptr<const ir::AssignStmt>;

class BarrierFinder : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    found |= op->op_->name_ == "system.syncall";
    ir::IRVisitor::VisitExpr_(op);
  }
};

/// What a value is computed from besides other variables.
class Sources : public ir::IRVisitor {
public:
  bool block = false;  ///< the block's number, or how many there are
  bool memory = false; ///< anything else that an operation gives

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    const std::string &name = op->op_->name_;
    if (name == "tile.get_block_idx" || name == "tile.get_block_num")
      block = true;
    else
      memory |= name != "tensor.dim" && !isViewOfTensor(name);
    ir::IRVisitor::VisitExpr_(op);
  }
};

/// Other variables in the place of some.
class Renamer : public ir::IRMutator {
public:
  std::map<const ir::Var *, ir::ExprPtr> names;

protected:
  ir::ExprPtr VisitExpr_(const ir::VarPtr &op) override {
    auto found = names.find(op.get());
    return found == names.end() ? ir::IRMutator::VisitExpr_(op) : found->second;
  }
};

/// The variables that a statement binds for those behind it.
std::vector<ir::VarPtr> boundBy(const ir::StmtPtr &stmt) {
  if (auto assign = ir::As<ir::AssignStmt>(stmt))
    return {assign->var_};
  if (auto loop = ir::As<ir::ForStmt>(stmt))
    return loop->return_vars_;
  if (auto loop = ir::As<ir::WhileStmt>(stmt))
    return loop->return_vars_;
  if (auto branch = ir::As<ir::IfStmt>(stmt))
    return branch->return_vars_;
  return {};
}

/// Whether a statement holds a scope of a kernel.
class ScopeFinder : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    found |= ir::IsA<ir::InCoreScopeStmt>(op);
    ir::IRVisitor::VisitScopeStmt_(op);
  }
};

class Phases {
public:
  /// `ofScopes`: the body is of scopes of kernels, each of which is a phase.
  Phases(const ir::SpmdScopeStmt &scope, bool ofScopes)
      : scope(scope), ofScopes(ofScopes), kernel(ofScopes ? nullptr : ir::KernelOfBlocks(scope)),
        body(kernel ? kernel->body_ : scope.body_), roots(tensorRoots(body)) {
    for (const ir::VarPtr &var : freeVariables(body))
      shared.insert(var.get());
  }

  ir::StmtPtr run() {
    find(body);
    Stmts phases;
    cut(body, phases);
    Stmts all = std::move(created);
    llvm::append_range(all, phases);
    return sequence(std::move(all), scope.span_);
  }

private:
  bool endsPhases(const ir::StmtPtr &stmt) const {
    ScopeFinder scopes;
    scopes.VisitStmt(stmt);
    return holdsBarrier(stmt) || (ofScopes && scopes.found);
  }

  /// Assigns each statement between barriers to its phase, and each value that a phase binds.
  void find(const ir::StmtPtr &stmts) {
    ++phase;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(stmts)) {
      if (isBarrier(stmt)) {
        ++phase;
      } else if (auto inner = ir::As<ir::InCoreScopeStmt>(stmt); inner && ofScopes) {
        find(inner->body_);
      } else if (endsPhases(stmt)) {
        if (auto loop = ir::As<ir::ForStmt>(stmt)) {
          find(loop->body_);
        } else if (auto branch = ir::As<ir::IfStmt>(stmt)) {
          find(branch->then_body_);
          if (branch->else_body_)
            find(*branch->else_body_);
        } else {
          fail(stmt->span_, "a barrier between blocks stands in a scope, in loops of pl.range and in branches");
        }
        ++phase;
      } else {
        findUses(stmt);
      }
    }
    ++phase;
  }
  void findUses(const ir::StmtPtr &stmt) {
    for (const ir::VarPtr &var : freeVariables(stmt))
      use(var);
    auto assign = ir::As<ir::AssignStmt>(stmt);
    if (assign && isRepeatable(*assign)) {
      repeatable[assign->var_.get()] = assign;
      return;
    }
    for (const ir::VarPtr &var : boundBy(stmt))
      phaseOf[var.get()] = phase;
  }
  void use(const ir::VarPtr &var) {
    if (auto found = repeatable.find(var.get()); found != repeatable.end()) {
      for (const ir::VarPtr &other : freeVariables(found->second))
        use(other);
    } else if (auto of = phaseOf.find(var.get()); of != phaseOf.end() && of->second != phase) {
      need(var);
    }
  }
  /// Numbers that follow from other numbers, and views: each phase has those that it reads.
  static bool isRepeatable(const ir::AssignStmt &assign) {
    Sources sources;
    sources.VisitExpr(assign.value_);
    auto call = ir::As<ir::Call>(assign.value_);
    bool isView = call && isViewOfTensor(call->op_->name_);
    return !sources.memory && (isView || ir::IsA<ir::ScalarType>(assign.var_->type_));
  }
  bool isShared(const ir::VarPtr &var) const {
    return ir::IsA<ir::TensorType>(var->type_) && shared.count(rootOf(roots, var.get()));
  }

  /// A value that a phase reads of another one.
  void need(const ir::VarPtr &var) {
    if (isShared(var) || memory.count(var.get()))
      return;
    if (!ir::ShapeOf(var->type_))
      fail(var->span_, var->name_hint_ +
                           " is read behind a barrier between blocks, which keeps tiles and tensors; read "
                           "it again behind it, or make what is behind it a second scope");
    if (auto space = spaceOf(var); space && *space != ir::MemorySpace::Vec)
      fail(var->span_, var->name_hint_ +
                           " is in the memory of the cube core behind a barrier between blocks, which keeps "
                           "tiles of pl.Mem.Vec; store it to a tensor");
    for (const ir::ExprPtr &extent : validOf(var->type_))
      for (const ir::VarPtr &other : freeVariables(std::make_shared<const ir::EvalStmt>(extent, var->span_)))
        use(other);
    std::vector<ir::ExprPtr> extents = shapeOf(var);
    extents[0] = product(scope.core_num_, extents[0]);
    auto type = std::make_shared<const ir::TensorType>(extents, *ir::ElementTypeOf(var->type_));
    auto tensor = std::make_shared<const ir::Var>(var->name_hint_ + "_kept", type, var->span_);
    memory[var.get()] = tensor;
    created.push_back(creationOf(tensor));
  }
  static ir::ExprPtr product(const ir::ExprPtr &a, const ir::ExprPtr &b) {
    auto first = ir::ConstantInt(a), second = ir::ConstantInt(b);
    if (first && second)
      return number(*first * *second);
    return ir::MakeBinary(ir::NodeKind::Mul, a, b, pypto::DataType::INDEX, a->span_);
  }

  void cut(const ir::StmtPtr &stmts, Stmts &out) {
    Stmts run;
    for (const ir::StmtPtr &stmt : ir::FlattenStmts(stmts)) {
      if (isBarrier(stmt)) {
        close(run, stmt->span_, out);
      } else if (auto inner = ir::As<ir::InCoreScopeStmt>(stmt); inner && ofScopes) {
        close(run, stmt->span_, out);
        kernel = inner;
        run = ir::FlattenStmts(inner->body_);
        close(run, stmt->span_, out);
        kernel = nullptr;
      } else if (endsPhases(stmt)) {
        close(run, stmt->span_, out);
        out.push_back(around(stmt, out));
      } else {
        run.push_back(stmt);
      }
    }
    auto yield = run.empty() ? nullptr : ir::As<ir::YieldStmt>(run.back());
    if (yield)
      run.pop_back();
    close(run, stmts->span_, out);
    if (yield) {
      std::vector<ir::ExprPtr> values;
      for (const ir::ExprPtr &value : yield->value_)
        values.push_back(ofOrchestrator(value, yield->span_, out));
      out.push_back(std::make_shared<const ir::YieldStmt>(values, yield->span_));
    }
  }

  ir::StmtPtr inner(const ir::StmtPtr &stmts) {
    Stmts made;
    cut(stmts, made);
    return sequence(std::move(made), stmts->span_);
  }

  /// A loop or a branch of the orchestrator, with phases inside.
  ir::StmtPtr around(const ir::StmtPtr &stmt, Stmts &out) {
    for (const ir::VarPtr &var : boundBy(stmt))
      if (ir::ShapeOf(var->type_) && !isShared(var))
        fail(stmt->span_, "a loop or branch with a barrier between blocks hands on " + var->name_hint_ +
                              ", which is each block's own; keep it in a tensor that was made before");
    if (auto branch = ir::As<ir::IfStmt>(stmt)) {
      ir::ExprPtr condition = ofOrchestrator(branch->condition_, stmt->span_, out);
      std::optional<ir::StmtPtr> other;
      if (branch->else_body_)
        other = inner(*branch->else_body_);
      return std::make_shared<const ir::IfStmt>(condition, inner(branch->then_body_), other, branch->return_vars_,
                                                stmt->span_);
    }
    auto loop = ir::As<ir::ForStmt>(stmt);
    ir::ExprPtr bounds[] = {loop->start_, loop->stop_, loop->step_};
    for (ir::ExprPtr &bound : bounds)
      bound = ofOrchestrator(bound, stmt->span_, out);
    return std::make_shared<const ir::ForStmt>(loop->loop_var_, bounds[0], bounds[1], bounds[2], loop->iter_args_,
                                               inner(loop->body_), loop->return_vars_, loop->span_);
  }

  /// A value for the orchestrator, which computes what it needs of the block's numbers by itself.
  ir::ExprPtr ofOrchestrator(const ir::ExprPtr &value, const ir::Span &span, Stmts &out) {
    Renamer renamer;
    auto use = std::make_shared<const ir::EvalStmt>(value, span);
    for (const ir::VarPtr &var : freeVariables(use)) {
      if (phaseOf.count(var.get()) && !isShared(var))
        fail(span, var->name_hint_ + " decides about a barrier between blocks, but only a block knows it");
      auto found = repeatable.find(var.get());
      if (found == repeatable.end())
        continue;
      const ir::AssignStmt &assign = *found->second;
      ir::ExprPtr computed = ofOrchestrator(assign.value_, assign.span_, out);
      auto fresh = std::make_shared<const ir::Var>(var->name_hint_, var->type_, var->span_);
      out.push_back(std::make_shared<const ir::AssignStmt>(fresh, computed, assign.span_));
      renamer.names[var.get()] = fresh;
    }
    Sources sources;
    sources.VisitExpr(value);
    if (sources.block)
      fail(span, "the block's number decides about a barrier between blocks, so that some would not come to it");
    return renamer.VisitExpr(value);
  }

  /// The scope of one phase.
  void close(Stmts &run, const ir::Span &span, Stmts &out) {
    auto isRead = [&](const ir::StmtPtr &stmt) {
      auto assign = ir::As<ir::AssignStmt>(stmt);
      return assign && repeatable.count(assign->var_.get());
    };
    if (llvm::all_of(run, isRead)) {
      run.clear();
      return;
    }
    block = std::make_shared<const ir::Var>("block", blockType(), span);
    Stmts stmts, made;
    std::set<const ir::Var *> own;
    bool knowsBlock = false;
    for (const ir::StmtPtr &stmt : run) {
      stmts.push_back(stmt);
      for (const ir::VarPtr &var : boundBy(stmt)) {
        own.insert(var.get());
        if (memory.count(var.get()))
          stmts.push_back(kept(var));
        knowsBlock |= memory.count(var.get()) != 0;
      }
    }
    run.clear();
    own.insert(block.get());
    Renamer renamer;
    prepare(stmts, own, span, made, renamer);
    if (knowsBlock || !renamer.names.empty())
      made.insert(made.begin(), std::make_shared<const ir::AssignStmt>(
                                    block, ir::CreateOp("tile.get_block_idx", ir::Attrs(), span), span));
    for (const ir::StmtPtr &stmt : stmts)
      made.push_back(renamer.VisitStmt(stmt));
    out.push_back(blocks(sequence(std::move(made), span)));
  }
  static ir::TypePtr blockType() { return std::make_shared<const ir::ScalarType>(pypto::DataType::INDEX); }

  /// In front of a phase: what it reads of earlier ones.
  void prepare(const Stmts &stmts, std::set<const ir::Var *> &own, const ir::Span &span, Stmts &before,
               Renamer &renamer) {
    for (const ir::VarPtr &var : freeVariables(sequence(stmts, span))) {
      if (!own.insert(var.get()).second)
        continue;
      if (auto found = repeatable.find(var.get()); found != repeatable.end()) {
        prepare({found->second}, own, span, before, renamer);
        before.push_back(renamer.VisitStmt(found->second));
      } else if (memory.count(var.get())) {
        for (const ir::ExprPtr &extent : validOf(var->type_))
          prepare({std::make_shared<const ir::EvalStmt>(extent, span)}, own, span, before, renamer);
        auto fresh = std::make_shared<const ir::Var>(var->name_hint_, var->type_, var->span_);
        before.push_back(std::make_shared<const ir::AssignStmt>(fresh, renamer.VisitExpr(loaded(var)), var->span_));
        renamer.names[var.get()] = fresh;
      }
    }
  }

  /// Where the block's part of the memory for a value begins.
  std::vector<ir::ExprPtr> offsetsOf(const ir::VarPtr &var) const {
    std::vector<ir::ExprPtr> offsets = zeros(shapeOf(var).size());
    offsets[0] = product(block, shapeOf(var)[0]);
    return offsets;
  }
  ir::StmtPtr kept(const ir::VarPtr &var) const {
    const ir::VarPtr &tensor = memory.at(var.get());
    ir::CallPtr call = ir::IsA<ir::TileType>(var->type_)
                           ? ir::CreateOp("tile.store", {var, tuple(offsetsOf(var)), tensor}, var->span_)
                           : ir::CreateOp("tensor.assemble", {tensor, var, tuple(offsetsOf(var))}, var->span_);
    auto written = std::make_shared<const ir::Var>(tensor->name_hint_, tensor->type_, var->span_);
    return std::make_shared<const ir::AssignStmt>(written, call, var->span_);
  }
  ir::ExprPtr loaded(const ir::VarPtr &var) const {
    ir::ExprPtr tensor = memory.at(var.get());
    bool isTile = ir::IsA<ir::TileType>(var->type_);
    std::vector<ir::ExprPtr> operands{tensor, tuple(shapeOf(var)), tuple(offsetsOf(var))};
    if (isTile)
      std::swap(operands[1], operands[2]);
    if (std::vector<ir::ExprPtr> valid = validOf(var->type_); !valid.empty())
      operands.push_back(tuple(valid));
    return ir::CreateOp(isTile ? "tile.load" : "tensor.slice", std::move(operands), var->span_);
  }

  ir::StmtPtr blocks(ir::StmtPtr stmts) {
    std::string name = kernel ? kernel->name_hint_ : scope.name_hint_;
    if (int before = made++; before && !name.empty()) // tasks of one name are one kernel
      name += "_" + std::to_string(before);
    if (kernel)
      stmts = std::make_shared<const ir::InCoreScopeStmt>(std::move(stmts), name, kernel->split_, kernel->attrs_,
                                                          kernel->span_);
    return std::make_shared<const ir::SpmdScopeStmt>(scope.core_num_, scope.sync_start_, std::move(stmts),
                                                     kernel ? scope.name_hint_ : name, scope.attrs_, scope.span_);
  }

  const ir::SpmdScopeStmt &scope;
  bool ofScopes;
  ir::InCoreScopeStmtPtr kernel; ///< null where the body is that of the scope itself
  ir::StmtPtr body;
  TensorRoots roots;
  std::set<const ir::Var *> shared; ///< that blocks do not make
  size_t phase = 0;
  int made = 0;                                     ///< scopes
  std::map<const ir::Var *, size_t> phaseOf;        ///< what a phase computes
  std::map<const ir::Var *, Assignment> repeatable; ///< what each phase computes for itself
  std::map<const ir::Var *, ir::VarPtr> memory;     ///< tensors with a part for each block, by the value in them
  Stmts created;                                    ///< that make them
  ir::VarPtr block;                                 ///< the block's number in the phase that is made
};

/// Scopes of blocks with a kernel each.
class KernelPhases : public ir::IRMutator {
protected:
  ir::StmtPtr VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    auto blocks = ir::As<ir::SpmdScopeStmt>(op);
    ScopeFinder scopes;
    if (blocks && !ir::KernelOfBlocks(*blocks))
      scopes.VisitStmt(blocks->body_);
    return scopes.found ? Phases(*blocks, /*ofScopes=*/true).run() : ir::IRMutator::VisitScopeStmt_(op);
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
