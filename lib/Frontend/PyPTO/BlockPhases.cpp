#include "BlockPhases.h"

#include "BlockMemory.h"
#include "Plan.h"
#include "Renamer.h"
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

/// Readers of a tile in Acc that a tile in Vec does not serve as well.
class AccReaders : public ir::IRVisitor {
public:
  AccReaders(const ir::Var &tile, const ir::StmtPtr &stmts) : tile(tile) { VisitStmt(stmts); }
  bool found = false;

protected:
  void VisitExpr_(const ir::VarPtr &op) override { found |= op.get() == &tile; }
  void VisitExpr_(const ir::IterArgPtr &op) override { found |= op.get() == &tile; }
  void VisitExpr_(const ir::CallPtr &op) override {
    bool isFirst = !op->args_.empty() && op->args_[0].get() == &tile;
    if (!isFirst || !servesVec(*op))
      return ir::IRVisitor::VisitExpr_(op);
    for (const ir::ExprPtr &operand : llvm::drop_begin(op->args_))
      VisitExpr(operand);
  }

private:
  static bool servesVec(const ir::Call &call) {
    ir::OpView view(call);
    if (call.op_->name_ == "tile.store")
      return !view.Keyword<bool>("relu").value_or(false);
    return call.op_->name_ == "tile.move" && view.Enum<ir::MemorySpace>("target_memory") == ir::MemorySpace::Vec;
  }

  const ir::Var &tile;
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
        body(kernel ? kernel->body_ : scope.body_), roots(tensorRoots(body)), memory(scope.core_num_) {
    for (const ir::Var *var : writtenTensors(body))
      written.insert(rootOf(roots, var));
    for (const ir::VarPtr &var : freeVariables(body))
      shared.insert(var.get());
  }

  ir::StmtPtr run() {
    find(body);
    Stmts phases;
    cut(body, phases);
    Stmts all = std::move(memory.created);
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
        keepCarried(stmt);
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
  static bool isForCube(const ir::VarPtr &var) {
    auto space = spaceOf(var);
    return space == ir::MemorySpace::Mat || space == ir::MemorySpace::Left || space == ir::MemorySpace::Right;
  }
  /// Loads of what blocks do not write, and moves of such tiles, give the same in every phase.
  bool isSameAgain(const ir::Call &call) const {
    auto from = call.args_.empty() ? nullptr : ir::As<ir::Var>(call.args_[0]);
    Sources others;
    for (const ir::ExprPtr &operand : call.args_)
      others.VisitExpr(operand);
    if (!from || others.memory)
      return false;
    if (call.op_->name_ == "tile.load")
      return !written.count(rootOf(roots, from.get()));
    return call.op_->name_ == "tile.move" && repeatable.count(from.get()) && isForCube(from);
  }
  /// Numbers that follow from other numbers, views, and operands of products: each phase has those that it reads.
  bool isRepeatable(const ir::AssignStmt &assign) const {
    auto call = ir::As<ir::Call>(assign.value_);
    if (call && isForCube(assign.var_))
      return isSameAgain(*call);
    Sources sources;
    sources.VisitExpr(assign.value_);
    bool isView = call && isViewOfTensor(call->op_->name_);
    return !sources.memory && (isView || ir::IsA<ir::ScalarType>(assign.var_->type_));
  }
  bool isShared(const ir::VarPtr &var) const {
    return ir::IsA<ir::TensorType>(var->type_) && shared.count(rootOf(roots, var.get()));
  }

  /// A value that a phase reads of another one.
  void need(const ir::VarPtr &var) {
    if (isShared(var) || memory.has(var.get()))
      return;
    for (const ir::ExprPtr &extent : validOf(var->type_))
      for (const ir::VarPtr &other : freeVariables(std::make_shared<const ir::EvalStmt>(extent, var->span_)))
        use(other);
    memory.add(var);
  }

  /// Whether each block has its own of what a loop or branch hands on.
  bool isOwn(const ir::VarPtr &var) const { return ir::ShapeOf(var->type_) && !isShared(var); }

  /// What a loop or branch around a barrier hands on of each block: the memory holds it from turn to turn.
  void keepCarried(const ir::StmtPtr &stmt) {
    std::vector<ir::VarPtr> results = boundBy(stmt);
    auto loop = ir::As<ir::ForStmt>(stmt);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!isOwn(results[i]))
        continue;
      for (const ir::ExprPtr &extent : validOf(results[i]->type_))
        if (!ir::ConstantInt(extent))
          fail(results[i]->span_, "a loop or branch with a barrier between blocks hands on " + results[i]->name_hint_ +
                                      ", of which a part is valid that only a run knows; fill it with `pl.fillpad`");
      memory.add(results[i]);
      if (!loop)
        continue;
      memory.share(loop->iter_args_[i], results[i]);
      use(variable(loop->iter_args_[i]->initValue_));
    }
  }
  static ir::VarPtr variable(const ir::ExprPtr &value) {
    auto var = ir::As<ir::Var>(value);
    if (!var)
      fail(value->span_, "a loop or branch with a barrier between blocks hands on values that have a name");
    return var;
  }
  /// What a view is of.
  const ir::Var *viewed(const ir::Var *var) const {
    for (auto found = repeatable.find(var); found != repeatable.end(); found = repeatable.find(var)) {
      auto call = ir::As<ir::Call>(found->second->value_);
      auto whole = call ? ir::As<ir::Var>(call->args_[0]) : nullptr;
      if (!whole)
        break;
      var = whole.get();
    }
    return var;
  }
  /// The values that go to the memory of loops and branches at the end of a phase, all of which are computed there.
  void handOn(const std::vector<ir::ExprPtr> &values, const std::vector<ir::VarPtr> &results, const ir::Stmt *loop) {
    for (auto [value, result] : llvm::zip_equal(values, results)) {
      if (!isOwn(result))
        continue;
      ir::VarPtr var = variable(value);
      // Tiles are loaded before any is stored; a tensor is a view of the memory until then.
      auto arg = carriedBy.find(viewed(var.get()));
      bool isCarried = loop && arg != carriedBy.end() && arg->second.first == loop;
      if (isCarried && arg->second.second == result.get() && arg->first == var.get())
        continue; // it stays
      if (!isCarried || !ir::IsA<ir::TensorType>(var->type_)) {
        handedOn.emplace_back(var, result);
        continue;
      }
      // A view of memory that this very turn writes, as where two tensors change places: by way of memory of its own.
      auto copy = std::make_shared<const ir::Var>(result->name_hint_ + "_next", result->type_, value->span_);
      memory.add(copy);
      copiedOn.push_back({var, copy, result});
    }
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
        if (auto loop = ir::As<ir::ForStmt>(stmt)) {
          std::vector<ir::ExprPtr> starts;
          for (const ir::IterArgPtr &arg : loop->iter_args_)
            starts.push_back(arg->initValue_);
          handOn(starts, loop->return_vars_, nullptr);
        }
        close(run, stmt->span_, out);
        out.push_back(around(stmt, out));
      } else {
        run.push_back(stmt);
      }
    }
    auto yield = run.empty() ? nullptr : ir::As<ir::YieldStmt>(run.back());
    if (yield) {
      run.pop_back();
      handOn(yield->value_, results, loopOfResults);
    }
    close(run, stmts->span_, out);
    if (yield) {
      std::vector<ir::ExprPtr> values;
      for (auto [value, result] : llvm::zip_equal(yield->value_, results))
        if (!isOwn(result))
          values.push_back(ofOrchestrator(value, yield->span_, out));
      if (!values.empty() || yield->value_.empty())
        out.push_back(std::make_shared<const ir::YieldStmt>(values, yield->span_));
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
    llvm::copy_if(boundBy(stmt), std::back_inserter(kept), [&](const ir::VarPtr &var) { return !isOwn(var); });
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
      if (isOwn(result))
        carriedBy[arg.get()] = {stmt.get(), result.get()};
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
    if (llvm::all_of(run, isRead) && handedOn.empty() && copiedOn.empty()) {
      run.clear();
      return;
    }
    block = std::make_shared<const ir::Var>("block", blockType(), span);
    Stmts stmts, made;
    std::set<const ir::Var *> own;
    bool knowsBlock = false;
    for (const ir::StmtPtr &stmt : withoutUnread(run)) {
      stmts.push_back(stmt);
      for (const ir::VarPtr &var : boundBy(stmt)) {
        own.insert(var.get());
        if (memory.has(var.get()))
          stmts.push_back(memory.stored(var, var, block));
        knowsBlock |= memory.has(var.get());
      }
    }
    knowsBlock |= !handedOn.empty() || !copiedOn.empty();
    for (const auto &[value, copy, result] : copiedOn)
      stmts.push_back(memory.stored(value, copy, block));
    for (const auto &[value, result] : handedOn)
      stmts.push_back(memory.stored(value, result, block));
    for (const auto &[value, copy, result] : copiedOn) {
      stmts.push_back(std::make_shared<const ir::AssignStmt>(copy, memory.loaded(copy, block), copy->span_));
      stmts.push_back(memory.stored(copy, result, block));
      own.insert(copy.get());
    }
    handedOn.clear();
    copiedOn.clear();
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
  /// The statements but for operands of products that only a later phase reads, which has its own.
  Stmts withoutUnread(const Stmts &stmts) const {
    Stmts kept;
    std::set<const ir::Var *> read;
    for (const ir::StmtPtr &stmt : llvm::reverse(stmts)) {
      auto assign = ir::As<ir::AssignStmt>(stmt);
      const ir::Var *var = assign ? assign->var_.get() : nullptr;
      if (var && isForCube(assign->var_) && repeatable.count(var) && !read.count(var))
        continue;
      for (const ir::VarPtr &other : freeVariables(stmt))
        read.insert(other.get());
      kept.push_back(stmt);
    }
    return {kept.rbegin(), kept.rend()};
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
      } else if (memory.has(var.get())) {
        for (const ir::ExprPtr &extent : validOf(var->type_))
          prepare({std::make_shared<const ir::EvalStmt>(extent, span)}, own, span, before, renamer);
        if (spaceOf(var) == ir::MemorySpace::Acc && AccReaders(*var, sequence(stmts, span)).found)
          fail(var->span_, var->name_hint_ + " is in the memory of the cube core behind a barrier between blocks, "
                                             "where it can be stored, or moved to pl.Mem.Vec");
        auto fresh = std::make_shared<const ir::Var>(var->name_hint_, BlockMemory::typeOfLoaded(var), var->span_);
        before.push_back(
            std::make_shared<const ir::AssignStmt>(fresh, renamer.VisitExpr(memory.loaded(var, block)), var->span_));
        renamer.names[var.get()] = fresh;
      }
    }
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
  std::set<const ir::Var *> shared;  ///< that blocks do not make
  std::set<const ir::Var *> written; ///< roots that blocks write
  size_t phase = 0;
  int made = 0;                                     ///< scopes
  std::map<const ir::Var *, size_t> phaseOf;        ///< what a phase computes
  std::map<const ir::Var *, Assignment> repeatable; ///< what each phase computes for itself
  BlockMemory memory;                               ///< what a later phase reads
  ir::VarPtr block;                                 ///< the block's number in the phase that is made
  std::vector<ir::VarPtr> results;                  ///< of the loop or branch that is made
  const ir::Stmt *loopOfResults = nullptr;          ///< null in a branch
  /// Arguments of loops in the memory of blocks: the loop, and its result in the same place.
  std::map<const ir::Var *, std::pair<const ir::Stmt *, const ir::Var *>> carriedBy;
  std::vector<std::pair<ir::VarPtr, ir::VarPtr>> handedOn; ///< values and whose memory they go to, in this phase
  struct Copied {
    ir::VarPtr value, copy, result;
  };
  std::vector<Copied> copiedOn; ///< the same by way of a copy
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
