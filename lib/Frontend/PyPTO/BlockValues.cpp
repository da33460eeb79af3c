#include "BlockValues.h"

#include "BlockPhases.h"
#include "Types.h"

#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

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

class KernelFinder : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    found |= ir::IsA<ir::InCoreScopeStmt>(op);
    ir::IRVisitor::VisitScopeStmt_(op);
  }
};

} // namespace

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

bool holdsKernel(const ir::StmtPtr &stmt) {
  KernelFinder finder;
  finder.VisitStmt(stmt);
  return finder.found;
}

bool dependsOnBlock(const ir::ExprPtr &value) {
  Sources sources;
  sources.VisitExpr(value);
  return sources.block;
}

BlockValues::BlockValues(const ir::ExprPtr &blocks, const ir::StmtPtr &body, bool ofScopes)
    : memory(blocks), ofScopes(ofScopes), roots(tensorRoots(body)) {
  for (const ir::Var *var : writtenTensors(body))
    written.insert(rootOf(roots, var));
  for (const ir::VarPtr &var : freeVariables(body))
    shared.insert(var.get());
  find(body);
}

bool BlockValues::endsPhases(const ir::StmtPtr &stmt) const {
  return holdsBarrier(stmt) || (ofScopes && holdsKernel(stmt));
}

/// Assigns each statement between barriers to its phase, and each value that a phase binds.
void BlockValues::find(const ir::StmtPtr &stmts) {
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

void BlockValues::findUses(const ir::StmtPtr &stmt) {
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

void BlockValues::use(const ir::VarPtr &var) {
  if (auto found = repeatable.find(var.get()); found != repeatable.end()) {
    for (const ir::VarPtr &other : freeVariables(found->second))
      use(other);
  } else if (auto of = phaseOf.find(var.get()); of != phaseOf.end() && of->second != phase) {
    need(var);
  }
}

bool BlockValues::isForCube(const ir::VarPtr &var) {
  auto space = spaceOf(var);
  return space == ir::MemorySpace::Mat || space == ir::MemorySpace::Left || space == ir::MemorySpace::Right;
}

/// Loads of what blocks do not write, and moves of such tiles, give the same in every phase.
bool BlockValues::isSameAgain(const ir::Call &call) const {
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
bool BlockValues::isRepeatable(const ir::AssignStmt &assign) const {
  auto call = ir::As<ir::Call>(assign.value_);
  if (call && isForCube(assign.var_))
    return isSameAgain(*call);
  Sources sources;
  sources.VisitExpr(assign.value_);
  bool isView = call && isViewOfTensor(call->op_->name_);
  return !sources.memory && (isView || ir::IsA<ir::ScalarType>(assign.var_->type_));
}

/// A value that a phase reads of another one.
void BlockValues::need(const ir::VarPtr &var) {
  if (isShared(var) || memory.has(var.get()))
    return;
  for (const ir::ExprPtr &extent : validOf(var->type_))
    for (const ir::VarPtr &other : freeVariables(std::make_shared<const ir::EvalStmt>(extent, var->span_)))
      use(other);
  memory.add(var);
}

/// What a loop or branch around a barrier hands on of each block: the memory holds it from turn to turn.
void BlockValues::keepCarried(const ir::StmtPtr &stmt) {
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

ir::VarPtr BlockValues::variable(const ir::ExprPtr &value) {
  auto var = ir::As<ir::Var>(value);
  if (!var)
    fail(value->span_, "a loop or branch with a barrier between blocks hands on values that have a name");
  return var;
}

const ir::Var *BlockValues::viewed(const ir::Var *var) const {
  for (auto found = repeatable.find(var); found != repeatable.end(); found = repeatable.find(var)) {
    auto call = ir::As<ir::Call>(found->second->value_);
    auto whole = call ? ir::As<ir::Var>(call->args_[0]) : nullptr;
    if (!whole)
      break;
    var = whole.get();
  }
  return var;
}
BlockValues::Assignment BlockValues::repeated(const ir::Var *var) const {
  auto found = repeatable.find(var);
  return found == repeatable.end() ? nullptr : found->second;
}

} // namespace pto_mlir::pypto_frontend
