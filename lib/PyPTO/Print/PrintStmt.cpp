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

/// Whether a statement binds the task of the scope behind it, which `as` says.
static bool isTaskOf(const Stmt &stmt, const Stmt &next) {
  VarPtr task = taskOf(next);
  return task && stmt.kind() == NodeKind::AssignStmt && static_cast<const AssignStmt &>(stmt).var_ == task;
}

void Printer::body(const StmtPtr &body, const std::vector<VarPtr> &results) { this->body(FlattenStmts(body), results); }

void Printer::body(const std::vector<StmtPtr> &stmts, const std::vector<VarPtr> &results) {
  if (stmts.empty())
    line("pass");
  for (size_t i = 0; i < stmts.size(); ++i)
    if (auto yielded = As<YieldStmt>(stmts[i]))
      yield(*yielded, results);
    else if (i + 1 == stmts.size() || !isTaskOf(*stmts[i], *stmts[i + 1]))
      stmt(*stmts[i]);
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

/// Start, stop and step without those that a loop has by itself.
std::string Printer::bounds(const ForStmt &stmt) {
  auto is = [](const ExprPtr &bound, int64_t value) {
    auto constant = As<ConstInt>(bound);
    return constant && constant->value_ == value && constant->dtype_ == DataType::INDEX;
  };
  if (!is(stmt.step_, 1))
    return expr(stmt.start_) + ", " + expr(stmt.stop_) + ", " + expr(stmt.step_);
  return is(stmt.start_, 0) ? expr(stmt.stop_) : expr(stmt.start_) + ", " + expr(stmt.stop_);
}

void Printer::loop(const ForStmt &stmt) {
  static constexpr std::string_view kFunctions[] = {"range", "parallel", "unroll", "pipeline"};
  std::string arguments = bounds(stmt);
  std::string target;
  target = name(*stmt.loop_var_);
  if (!stmt.iter_args_.empty())
    target += ", (" + names(stmt.iter_args_) + (stmt.iter_args_.size() == 1 ? ",)" : ")");
  Attrs rest;
  for (const auto &[key, value] : stmt.attrs_)
    if (key == "pipeline_stages")
      appendItem(arguments, "stage=" + attr(value));
    else
      rest.emplace_back(key, value);
  if (!stmt.iter_args_.empty())
    appendItem(arguments, initValues(stmt.iter_args_));
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
