// A scope's body is a function's; what it computes are outputs.
#include "OutlineCalls.h"

#include "OutlineScope.h"
#include "Plan.h"
#include "TileNodes.h"

#include "pto_mlir/Support/FreeName.h"
#include "pypto/ir/op_registry.h"
#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

using Stmts = std::vector<ir::StmtPtr>;

/// A tensor that the scope computes, and that is read behind it: memory that the orchestrator makes.
ir::ExprPtr computed(const ir::VarPtr &result, OutlinedBody &outlined, std::vector<ir::ExprPtr> &arguments, Stmts &body,
                     Stmts &call) {
  auto type = ir::As<ir::TensorType>(result->type_);
  auto plain = std::make_shared<const ir::TensorType>(type->shape_, type->dtype_);
  auto variable = [&](const std::string &name, const ir::TypePtr &of) {
    return std::make_shared<const ir::Var>(name, of, result->span_);
  };
  std::string out = result->name_hint_ + "_out";
  ir::VarPtr memory = variable(out, plain), filled = variable(result->name_hint_, type);
  ir::VarPtr param = variable(freeName(out, [&](const std::string &each) { return outlined.hasParam(each); }), plain);
  call.push_back(creationOf(memory));
  arguments.emplace_back(memory);
  outlined.params.push_back(param);
  std::vector<ir::ExprPtr> operands{param, result, tuple(zeros(plain->shape_.size()))};
  body.push_back(std::make_shared<const ir::AssignStmt>(
      filled, ir::CreateOp("tensor.assemble", std::move(operands), result->span_), result->span_));
  return filled;
}

void bindResults(const ir::InCoreScopeStmt &scope, const std::string &name, std::vector<ir::ExprPtr> arguments,
                 const std::vector<ir::VarPtr> &results, const std::vector<ir::TypePtr> &types, Stmts &stmts) {
  const ir::Span &span = scope.span_;
  ir::TypePtr type = ir::UnknownType::Get();
  if (types.size() == 1)
    type = types[0];
  else if (!types.empty())
    type = std::make_shared<const ir::TupleType>(types);
  auto call = std::make_shared<ir::Call>(std::make_shared<const ir::GlobalVar>(name), std::move(arguments), ir::Attrs(),
                                         type, span);
  if (const ir::Attr *dumps = ir::FindAttr(scope.attrs_, "dumps"))
    call->attrs_.emplace_back("dumps", *dumps);
  if (results.empty()) {
    stmts.push_back(std::make_shared<const ir::EvalStmt>(call, span));
  } else if (results.size() == 1) {
    stmts.push_back(std::make_shared<const ir::AssignStmt>(results[0], call, span));
  } else {
    auto all = std::make_shared<const ir::Var>("results", type, span);
    stmts.push_back(std::make_shared<const ir::AssignStmt>(all, call, span));
    for (size_t i = 0; i < results.size(); ++i)
      stmts.push_back(std::make_shared<const ir::AssignStmt>(
          results[i], std::make_shared<const ir::TupleGetItemExpr>(all, int64_t(i), span), span));
  }
}

} // namespace

ir::StmtPtr CallOutliner::VisitStmt_(const ir::SeqStmtsPtr &op) {
  ir::StmtPtr visited = ir::IRMutator::VisitStmt_(op);
  return visited == op ? visited : std::make_shared<const ir::SeqStmts>(ir::FlattenStmts(visited), op->span_);
}

bool CallOutliner::isOutlined(const ir::InCoreScopeStmt &scope) const {
  auto isHint = [](const auto &attr) {
    return llvm::is_contained({"split", "slot_num", "allow_early_resolve", "dumps"}, attr.first);
  };
  return llvm::all_of(scope.attrs_, isHint);
}

bool CallOutliner::take(const ir::FunctionPtr &function) {
  made.push_back(function);
  return true;
}

ir::StmtPtr CallOutliner::VisitStmt_(const ir::InCoreScopeStmtPtr &op) {
  if (!isOutlined(*op))
    return op;
  OutlinedBody outlined(op->body_);
  Stmts body = ir::FlattenStmts(outlined.body), call;
  std::vector<ir::VarPtr> &params = outlined.params, results = escapingTensors(op, entry.body_);
  std::set<const ir::Var *> written = writtenTensors(outlined.body);
  std::vector<ir::ParamDirection> directions;
  directions.reserve(params.size());
  for (const ir::VarPtr &param : params)
    directions.push_back(written.count(param.get()) ? ir::ParamDirection::InOut : ir::ParamDirection::In);
  std::vector<ir::ExprPtr> arguments(outlined.inputs.begin(), outlined.inputs.end()), returned;
  std::vector<ir::TypePtr> types;
  TensorRoots roots = tensorRoots(outlined.body);
  for (const ir::VarPtr &result : results) {
    const ir::Var *root = rootOf(roots, result.get());
    bool isGiven = llvm::any_of(params, [&](const ir::VarPtr &param) { return param.get() == root; });
    types.push_back(result->type_);
    returned.push_back(isGiven ? ir::ExprPtr(result) : computed(result, outlined, arguments, body, call));
    directions.resize(params.size(), ir::ParamDirection::Out);
  }
  if (!returned.empty())
    body.push_back(std::make_shared<const ir::ReturnStmt>(returned, op->span_));
  auto function = std::make_shared<ir::Function>(nameOf(*op), params, types,
                                                 std::make_shared<const ir::SeqStmts>(std::move(body), op->span_),
                                                 op->span_, ir::FunctionType::InCore, std::move(directions));
  if (op->split_)
    function->attrs_.emplace_back("split", ir::AsEnumValue(*op->split_));
  if (const ir::Attr *slots = ir::FindAttr(op->attrs_, "slot_num"))
    function->attrs_.emplace_back("slot_num", *slots);
  if (!take(function)) {
    names.erase(function->name_);
    return op;
  }
  bindResults(*op, function->name_, std::move(arguments), results, types, call);
  return std::make_shared<const ir::SeqStmts>(std::move(call), op->span_);
}

std::string CallOutliner::nameOf(const ir::InCoreScopeStmt &scope) {
  std::string base = scope.name_hint_.empty() ? entry.name_ + "_incore_" + std::to_string(number++) : scope.name_hint_;
  return *names.insert(freeName(base, [&](const std::string &name) { return names.count(name); })).first;
}

} // namespace pto_mlir::pypto_frontend
