// Statements: construction, and what control flow must hold to.
#include "pypto/ir/stmt.h"

#include "pypto/ir/node_access.h"

namespace pypto::ir {
namespace {

void appendStmts(const StmtPtr &body, std::vector<StmtPtr> &out) {
  if (auto sequence = As<SeqStmts>(body)) {
    for (const StmtPtr &stmt : sequence->stmts_)
      appendStmts(stmt, out);
    return;
  }
  out.push_back(body);
}

/// The last statement of a body, or null for an empty one.
StmtPtr lastStmt(StmtPtr body) {
  while (auto sequence = As<SeqStmts>(body))
    body = sequence->stmts_.empty() ? nullptr : sequence->stmts_.back();
  return body;
}

void checkYield(NodeKind kind, const StmtPtr &body, size_t count) {
  if (count == 0)
    return;
  auto yield = As<YieldStmt>(lastStmt(body));
  CHECK(yield && yield->value_.size() == count)
      << KindName(kind) << ": a body that carries " << count << " values must end in a yield of as many";
}

void checkCondition(NodeKind kind, const ExprPtr &condition) {
  CHECK_AS(TypeError, IsA<ScalarType>(condition->type_)) << KindName(kind) << ": condition must be a scalar";
}

void checkLoop(NodeKind kind, const std::vector<IterArgPtr> &carried, const std::vector<VarPtr> &results,
               const StmtPtr &body) {
  CHECK(carried.size() == results.size())
      << KindName(kind) << ": " << carried.size() << " iter_args but " << results.size() << " return_vars";
  checkYield(kind, body, carried.size());
}

} // namespace

std::vector<StmtPtr> FlattenStmts(const StmtPtr &body) {
  std::vector<StmtPtr> out;
  appendStmts(body, out);
  return out;
}

InCoreScopeStmtPtr KernelOfBlocks(const SpmdScopeStmt &blocks) {
  std::vector<StmtPtr> stmts = FlattenStmts(blocks.body_);
  return stmts.size() == 1 ? As<InCoreScopeStmt>(stmts[0]) : nullptr;
}

AssignStmt::AssignStmt(VarPtr var, ExprPtr value, Span span) : AssignStmt() {
  var_ = std::move(var);
  value_ = std::move(value);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void AssignStmt::Finish() {}

EvalStmt::EvalStmt(ExprPtr expr, Span span) : EvalStmt() {
  expr_ = std::move(expr);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void EvalStmt::Finish() {}

SeqStmts::SeqStmts(std::vector<StmtPtr> stmts, Span span) : SeqStmts() {
  stmts_ = std::move(stmts);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void SeqStmts::Finish() {}

ReturnStmt::ReturnStmt(std::vector<ExprPtr> value, Span span) : ReturnStmt() {
  value_ = std::move(value);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void ReturnStmt::Finish() {}

YieldStmt::YieldStmt(std::vector<ExprPtr> value, Span span) : YieldStmt() {
  value_ = std::move(value);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void YieldStmt::Finish() {}

BreakStmt::BreakStmt(Span span) : BreakStmt() { span_ = std::move(span); }
ContinueStmt::ContinueStmt(Span span) : ContinueStmt() { span_ = std::move(span); }

IfStmt::IfStmt(ExprPtr condition, StmtPtr then_body, std::optional<StmtPtr> else_body, std::vector<VarPtr> return_vars,
               Span span)
    : IfStmt() {
  condition_ = std::move(condition);
  then_body_ = std::move(then_body);
  else_body_ = std::move(else_body);
  return_vars_ = std::move(return_vars);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void IfStmt::Finish() {
  checkCondition(kind(), condition_);
  CHECK(return_vars_.empty() || else_body_) << "IfStmt: return_vars need an else that yields as well";
  checkYield(kind(), then_body_, return_vars_.size());
  if (else_body_)
    checkYield(kind(), *else_body_, return_vars_.size());
}

ForStmt::ForStmt(VarPtr loop_var, ExprPtr start, ExprPtr stop, ExprPtr step, std::vector<IterArgPtr> iter_args,
                 StmtPtr body, std::vector<VarPtr> return_vars, Span span, ForKind kind, Attrs attrs)
    : ForStmt() {
  loop_var_ = std::move(loop_var);
  start_ = std::move(start);
  stop_ = std::move(stop);
  step_ = std::move(step);
  iter_args_ = std::move(iter_args);
  body_ = std::move(body);
  return_vars_ = std::move(return_vars);
  span_ = std::move(span);
  kind_ = kind;
  attrs_ = std::move(attrs);
  NodeAccess::Complete(*this);
}

void ForStmt::Finish() {
  for (const ExprPtr &bound : {start_, stop_, step_})
    CHECK_AS(TypeError, IsA<ScalarType>(bound->type_)) << "ForStmt: bounds must be scalars";
  CHECK(ConstantInt(step_) != 0) << "ForStmt: the step must not be 0";
  checkLoop(NodeKind::ForStmt, iter_args_, return_vars_, body_);
}

WhileStmt::WhileStmt(ExprPtr condition, std::vector<IterArgPtr> iter_args, StmtPtr body,
                     std::vector<VarPtr> return_vars, Span span)
    : WhileStmt() {
  condition_ = std::move(condition);
  iter_args_ = std::move(iter_args);
  body_ = std::move(body);
  return_vars_ = std::move(return_vars);
  span_ = std::move(span);
  NodeAccess::Complete(*this);
}

void WhileStmt::Finish() {
  checkCondition(kind(), condition_);
  checkLoop(kind(), iter_args_, return_vars_, body_);
}

} // namespace pypto::ir
