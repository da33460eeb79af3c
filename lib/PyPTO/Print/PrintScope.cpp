// Scopes as text.
#include "Printer.h"

#include <algorithm>

namespace pypto::ir {

/// The task that a scope notes.
VarPtr taskOf(const Stmt &stmt) {
  if (IsA<ScopeStmt>(stmt))
    for (const auto &[key, value] : static_cast<const ScopeStmt &>(stmt).attrs_)
      if (auto *task = key == "task_id_var" ? std::get_if<ExprPtr>(&value) : nullptr)
        return As<Var>(*task);
  return nullptr;
}

/// The one kernel of a scope of blocks that its text does not say, since the parser writes it.
static InCoreScopeStmtPtr kernelOf(const ScopeStmt &stmt) {
  bool isOfBlocks = stmt.kind() == NodeKind::SpmdScopeStmt;
  InCoreScopeStmtPtr kernel = isOfBlocks ? KernelOfBlocks(static_cast<const SpmdScopeStmt &>(stmt)) : nullptr;
  if (!kernel || std::ranges::any_of(kernel->attrs_, [](const auto &attr) { return attr.first != "slot_num"; }))
    return nullptr;
  std::string hint = kernel->name_hint_.empty() ? "" : kernel->name_hint_ + "_spmd";
  std::vector<StmtPtr> inner = FlattenStmts(kernel->body_);
  auto says = [](const StmtPtr &each) {
    auto assigned = As<AssignStmt>(each);
    auto evaluated = As<EvalStmt>(each);
    auto call = As<Call>(assigned ? assigned->value_ : evaluated ? evaluated->expr_ : nullptr);
    return call && IsA<GlobalVar>(call->op_);
  };
  bool isCall = inner.size() == 1 && says(inner[0]) && !kernel->split_ && kernel->attrs_.empty();
  return hint == stmt.name_hint_ && !isCall ? kernel : nullptr;
}

/// The block number with which a loop over blocks begins.
static VarPtr blockOf(const InCoreScopeStmt &kernel) {
  std::vector<StmtPtr> stmts = FlattenStmts(kernel.body_);
  auto first = stmts.empty() ? nullptr : As<AssignStmt>(stmts[0]);
  auto call = first ? As<Call>(first->value_) : nullptr;
  return call && call->op_->name_ == "tile.get_block_idx" ? first->var_ : nullptr;
}

/// `optimizations=[..]` of a kernel's scope.
std::string Printer::optimizations(const InCoreScopeStmt &kernel) {
  std::string list;
  if (kernel.split_ && *kernel.split_ != SplitMode::NONE)
    list = pl + "split(" + enumeration(AsEnumValue(*kernel.split_)) + ")";
  for (const auto &[key, value] : kernel.attrs_)
    if (key == "slot_num")
      appendItem(list, pl + "cross_core_slot(slot_num=" + attr(value) + ")");
  return list.empty() ? "" : "optimizations=[" + list + "]";
}

void Printer::scope(const ScopeStmt &stmt) {
  std::string head, options;
  auto hidden = kernelOf(stmt);
  VarPtr task = taskOf(stmt);
  if (auto *kernel = stmt.kind() == NodeKind::InCoreScopeStmt ? static_cast<const InCoreScopeStmt *>(&stmt) : nullptr) {
    head = "with " + pl + "at(";
    options = "level=" + enumeration(Level::CORE_GROUP);
    if (std::string list = optimizations(*kernel); !list.empty())
      appendItem(options, list);
  } else if (stmt.kind() == NodeKind::HierarchyScopeStmt) {
    auto &level = static_cast<const HierarchyScopeStmt &>(stmt);
    head = "with " + pl + "at(";
    options = "level=" + enumeration(level.level_);
    if (level.role_)
      appendItem(options, "role=" + enumeration(*level.role_));
  } else if (stmt.kind() == NodeKind::SpmdScopeStmt) {
    auto &spmd = static_cast<const SpmdScopeStmt &>(stmt);
    VarPtr block = hidden && !task ? blockOf(*hidden) : nullptr;
    head = (block ? "for " + name(*block) + " in " : "with ") + pl + "spmd(";
    options = expr(spmd.core_num_);
    if (spmd.sync_start_)
      appendItem(options, "sync_start=True");
    if (std::string list = hidden ? optimizations(*hidden) : ""; !list.empty())
      appendItem(options, list);
  } else if (stmt.kind() == NodeKind::SplitAivScopeStmt) {
    auto &split = static_cast<const SplitAivScopeStmt &>(stmt);
    head = "for " + name(*split.lane_) + " in " + pl + "split_aiv(";
    options = "2, mode=" + enumeration(split.mode_);
  } else if (stmt.kind() == NodeKind::RuntimeScopeStmt) {
    bool manual = static_cast<const RuntimeScopeStmt &>(stmt).manual_;
    head = "with " + pl + (manual ? "manual_scope(" : "scope(");
  } else {
    head = "with " + pl + "cluster(";
  }
  if (!stmt.name_hint_.empty())
    appendItem(options, "name_hint=" + attr(stmt.name_hint_));
  bool isKernel = stmt.kind() == NodeKind::InCoreScopeStmt;
  for (const auto &[key, value] : stmt.attrs_)
    if (key != "task_id_var" && !(isKernel && key == "slot_num"))
      appendItem(options, (key == "manual_dep_edges" ? "deps" : key) + "=" + attr(value));
  line(head + options + (task ? ") as " + name(*task) : ")") + ":");
  ++depth;
  std::vector<StmtPtr> stmts = FlattenStmts(hidden ? hidden->body_ : stmt.body_);
  if (hidden && !task && blockOf(*hidden))
    stmts.erase(stmts.begin());
  body(stmts, {});
  --depth;
}

} // namespace pypto::ir
