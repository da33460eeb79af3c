#include "PhaseScopes.h"

#include "Types.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/transforms/base/visitor.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

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

} // namespace

void PhaseScopes::handOn(const std::vector<ir::ExprPtr> &handed, const std::vector<ir::VarPtr> &results,
                         const ir::Stmt *loop) {
  for (auto [value, result] : llvm::zip_equal(handed, results)) {
    if (!values.isOwn(result))
      continue;
    ir::VarPtr var = BlockValues::variable(value);
    // Tiles are loaded before any is stored; a tensor is a view of the memory until then.
    auto arg = carriedBy.find(values.viewed(var.get()));
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

/// Whether a phase only computes what each one computes for itself.
bool PhaseScopes::isNothing(const Stmts &run) const {
  auto isRepeated = [&](const ir::StmtPtr &stmt) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    return assign && values.repeated(assign->var_.get());
  };
  return llvm::all_of(run, isRepeated) && handedOn.empty() && copiedOn.empty();
}

void PhaseScopes::close(Stmts &run, const ir::Span &span, Stmts &out) {
  if (isNothing(run)) {
    run.clear();
    return;
  }
  block =
      std::make_shared<const ir::Var>("block", std::make_shared<const ir::ScalarType>(pypto::DataType::INDEX), span);
  std::set<const ir::Var *> own;
  bool knowsBlock = !handedOn.empty() || !copiedOn.empty();
  Stmts stmts = withStores(run, own, knowsBlock), made;
  storeHandedOn(stmts, own);
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

/// The statements of a phase, each with the stores of what later phases read of it. `own`: what they bind.
PhaseScopes::Stmts PhaseScopes::withStores(const Stmts &run, std::set<const ir::Var *> &own, bool &knowsBlock) {
  Stmts stmts;
  for (const ir::StmtPtr &stmt : withoutUnread(run)) {
    stmts.push_back(stmt);
    for (const ir::VarPtr &var : boundBy(stmt)) {
      own.insert(var.get());
      if (!memory.has(var.get()))
        continue;
      stmts.push_back(memory.stored(var, var, block));
      knowsBlock = true;
    }
  }
  return stmts;
}

void PhaseScopes::storeHandedOn(Stmts &stmts, std::set<const ir::Var *> &own) {
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
}

/// The statements but for operands of products that only a later phase reads, which has its own.
PhaseScopes::Stmts PhaseScopes::withoutUnread(const Stmts &stmts) const {
  Stmts kept;
  std::set<const ir::Var *> read;
  for (const ir::StmtPtr &stmt : llvm::reverse(stmts)) {
    auto assign = ir::As<ir::AssignStmt>(stmt);
    const ir::Var *var = assign ? assign->var_.get() : nullptr;
    if (var && values.isRepeatedOperand(assign->var_) && !read.count(var))
      continue;
    for (const ir::VarPtr &other : freeVariables(stmt))
      read.insert(other.get());
    kept.push_back(stmt);
  }
  return {kept.rbegin(), kept.rend()};
}

/// In front of a phase: what it reads of earlier ones.
void PhaseScopes::prepare(const Stmts &stmts, std::set<const ir::Var *> &own, const ir::Span &span, Stmts &before,
                          Renamer &renamer) {
  for (const ir::VarPtr &var : freeVariables(sequence(stmts, span))) {
    if (!own.insert(var.get()).second)
      continue;
    if (auto repeated = values.repeated(var.get())) {
      prepare({repeated}, own, span, before, renamer);
      before.push_back(renamer.VisitStmt(repeated));
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

ir::StmtPtr PhaseScopes::blocks(ir::StmtPtr stmts) {
  std::string name = kernel ? kernel->name_hint_ : scope.name_hint_;
  if (int before = made++; before && !name.empty()) // tasks of one name are one kernel
    name += "_" + std::to_string(before);
  if (kernel)
    stmts = std::make_shared<const ir::InCoreScopeStmt>(std::move(stmts), name, kernel->split_, kernel->attrs_,
                                                        kernel->span_);
  return std::make_shared<const ir::SpmdScopeStmt>(scope.core_num_, scope.sync_start_, std::move(stmts),
                                                   kernel ? scope.name_hint_ : name, scope.attrs_, scope.span_);
}

} // namespace pto_mlir::pypto_frontend
