// Statements as text.
#include "Printer.h"

namespace pypto::ir {

template <class T> std::string Printer::names(const std::vector<std::shared_ptr<const T>> &vars) {
  std::string text;
  for (const auto &var : vars)
    appendItem(text, name(*var));
  return text;
}

std::string Printer::initValues(const std::vector<IterArgPtr> &carried) {
  std::string text;
  for (const IterArgPtr &arg : carried)
    appendItem(text, expr(arg->initValue_));
  return "init_values=(" + text + (carried.size() == 1 ? ",)" : ")");
}

void Printer::yield(const YieldStmt &stmt, const std::vector<VarPtr> &results) {
  std::string values;
  for (const ExprPtr &value : stmt.value_)
    appendItem(values, expr(value));
  line((results.empty() ? "" : names(results) + " = ") + pl + "yield_(" + values + ")");
}

void Printer::body(const StmtPtr &body, const std::vector<VarPtr> &results) {
  std::vector<StmtPtr> stmts = FlattenStmts(body);
  if (stmts.empty())
    line("pass");
  for (const StmtPtr &each : stmts)
    if (auto yielded = As<YieldStmt>(each))
      yield(*yielded, results);
    else
      stmt(*each);
}

void Printer::assign(const AssignStmt &stmt) {
  declared = stmt.var_->type_;
  std::string value = expr(stmt.value_);
  declared = nullptr;
  std::string annotation = IsA<TupleType>(stmt.var_->type_) ? "" : type(stmt.var_->type_);
  line(name(*stmt.var_) + (annotation.empty() ? "" : ": " + annotation) + " = " + value);
}

void Printer::conditional(const IfStmt &stmt) {
  line("if " + expr(stmt.condition_) + ":");
  ++depth;
  body(stmt.then_body_, stmt.return_vars_);
  --depth;
  if (!stmt.else_body_)
    return;
  line("else:");
  ++depth;
  body(*stmt.else_body_, stmt.return_vars_);
  --depth;
}

void Printer::loop(const ForStmt &stmt) {
  static constexpr std::string_view kFunctions[] = {"range", "parallel", "unroll", "pipeline"};
  std::string arguments = expr(stmt.start_) + ", " + expr(stmt.stop_) + ", " + expr(stmt.step_);
  std::string target;
  if (!stmt.iter_args_.empty())
    appendItem(arguments, initValues(stmt.iter_args_));
  target = name(*stmt.loop_var_);
  if (!stmt.iter_args_.empty())
    target += ", (" + names(stmt.iter_args_) + (stmt.iter_args_.size() == 1 ? ",)" : ")");
  Attrs rest;
  for (const auto &[key, value] : stmt.attrs_)
    if (key == "stage")
      appendItem(arguments, key + "=" + attr(value));
    else
      rest.emplace_back(key, value);
  if (!rest.empty())
    appendItem(arguments, "attrs=" + dictionary(rest));
  line("for " + target + " in " + pl + std::string(kFunctions[size_t(stmt.kind_)]) + "(" + arguments + "):");
  ++depth;
  body(stmt.body_, stmt.return_vars_);
  --depth;
}

void Printer::loop(const WhileStmt &stmt) {
  if (stmt.iter_args_.empty()) {
    line("while " + expr(stmt.condition_) + ":");
    ++depth;
  } else {
    std::string inits = initValues(stmt.iter_args_);
    line("for (" + names(stmt.iter_args_) + (stmt.iter_args_.size() == 1 ? ",)" : ")") + " in " + pl + "while_(" +
         inits + "):");
    ++depth;
    line(pl + "cond(" + expr(stmt.condition_) + ")");
  }
  body(stmt.body_, stmt.return_vars_);
  --depth;
}

void Printer::scope(const ScopeStmt &stmt) {
  std::string head, options;
  if (auto *kernel = stmt.kind() == NodeKind::InCoreScopeStmt ? static_cast<const InCoreScopeStmt *>(&stmt) : nullptr) {
    head = "with " + pl + "at(";
    options = "level=" + enumeration(Level::CORE_GROUP);
    if (kernel->split_)
      appendItem(options, "optimizations=[" + pl + "split(" + enumeration(*kernel->split_) + ")]");
  } else if (stmt.kind() == NodeKind::HierarchyScopeStmt) {
    auto &level = static_cast<const HierarchyScopeStmt &>(stmt);
    head = "with " + pl + "at(";
    options = "level=" + enumeration(level.level_);
    if (level.role_)
      appendItem(options, "role=" + enumeration(*level.role_));
  } else if (stmt.kind() == NodeKind::SpmdScopeStmt) {
    auto &spmd = static_cast<const SpmdScopeStmt &>(stmt);
    head = "with " + pl + "spmd(";
    options = expr(spmd.core_num_);
    if (spmd.sync_start_)
      appendItem(options, "sync_start=True");
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
  if (!stmt.attrs_.empty())
    appendItem(options, keywords(stmt.attrs_));
  line(head + options + "):");
  ++depth;
  body(stmt.body_);
  --depth;
}

void Printer::stmt(const Stmt &stmt) {
  switch (stmt.kind()) {
  case NodeKind::AssignStmt:
    return assign(static_cast<const AssignStmt &>(stmt));
  case NodeKind::EvalStmt:
    return line(expr(static_cast<const EvalStmt &>(stmt).expr_));
  case NodeKind::SeqStmts:
    for (const StmtPtr &each : static_cast<const SeqStmts &>(stmt).stmts_)
      this->stmt(*each);
    return;
  case NodeKind::ReturnStmt: {
    std::string values;
    for (const ExprPtr &value : static_cast<const ReturnStmt &>(stmt).value_)
      appendItem(values, expr(value));
    return line(values.empty() ? "return" : "return " + values);
  }
  case NodeKind::YieldStmt:
    return yield(static_cast<const YieldStmt &>(stmt), {});
  case NodeKind::BreakStmt:
    return line("break");
  case NodeKind::ContinueStmt:
    return line("continue");
  case NodeKind::IfStmt:
    return conditional(static_cast<const IfStmt &>(stmt));
  case NodeKind::ForStmt:
    return loop(static_cast<const ForStmt &>(stmt));
  case NodeKind::WhileStmt:
    return loop(static_cast<const WhileStmt &>(stmt));
  default:
    return scope(static_cast<const ScopeStmt &>(stmt));
  }
}

} // namespace pypto::ir
