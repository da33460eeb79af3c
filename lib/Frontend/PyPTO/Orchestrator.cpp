// Statements of an orchestrator.
#include "Orchestrator.h"
#include "TensorsToTiles.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

Orchestrator::Orchestrator(const ir::ProgramPtr &program, const ir::FunctionPtr &entry, const isa::ArchInfo &arch)
    : program(program), entry(entry->func_type_ == ir::FunctionType::Orchestration ? splitMixedScopes(entry) : entry),
      arch(arch) {}

void Orchestrator::run() {
  std::vector<Held> arguments;
  for (size_t i = 0; i < entry->params_.size(); ++i) {
    const ir::VarPtr &param = entry->params_[i];
    auto type = ir::As<ir::TensorType>(param->type_);
    if (!type)
      fail(param->span_, "parameter " + param->name_hint_ +
                             " is a scalar known at run time, which a saved program does not take yet; use @pl.jit, "
                             "which makes it a constant");
    std::vector<int64_t> shape;
    for (const ir::ExprPtr &extent : type->shape_) {
      auto known = ir::ConstantInt(extent);
      if (!known)
        fail(param->span_, "parameter " + param->name_hint_ +
                               " has an extent known at run time, which is not lowered yet; give its number");
      shape.push_back(*known);
    }
    buffers.push_back({param->name_hint_, shape, type->dtype_, entry->param_directions_[i]});
    View view{unsigned(i), 0, shape, {}, type->dtype_};
    for (size_t axis = shape.size(), dense = 1; axis-- > 0; dense *= shape[axis])
      view.strides.insert(view.strides.begin(), int64_t(dense));
    held[param.get()] = view;
    arguments.emplace_back(view);
  }
  if (entry->func_type_ == ir::FunctionType::Orchestration)
    VisitStmt(entry->body_);
  else
    launch(entry, arguments, entry->span_);
  if (launches.empty())
    fail(entry->span_, entry->name_ + " launches no kernel");
}

void Orchestrator::VisitStmt_(const ir::AssignStmtPtr &op) { held[op->var_.get()] = valueOf(op->value_); }
void Orchestrator::VisitStmt_(const ir::EvalStmtPtr &op) { (void)valueOf(op->expr_); }
void Orchestrator::VisitStmt_(const ir::YieldStmtPtr &op) { yielded = op; }

void Orchestrator::VisitStmt_(const ir::ReturnStmtPtr &op) {
  for (const ir::ExprPtr &value : op->value_) {
    View view = viewOf(value);
    Buffer &buffer = buffers[view.buffer];
    if (view.offset || view.shape != buffer.shape || !view.isRowMajor())
      fail(value->span_, "an orchestrator returns whole tensors; this is a view of " + buffer.name);
    if (buffer.direction == ir::ParamDirection::In)
      fail(value->span_, buffer.name + " is returned, but only read; declare it as Out");
    if (!buffer.direction && !buffer.returned) {
      buffer.returned = true;
      results.push_back(view);
    }
  }
}

void Orchestrator::VisitStmt_(const ir::BreakStmtPtr &op) { fail(op->span_, "break is not lowered yet"); }
void Orchestrator::VisitStmt_(const ir::ContinueStmtPtr &op) { fail(op->span_, "continue is not lowered yet"); }

/// What the body hands on.
std::vector<Held> Orchestrator::bodyOf(const ir::StmtPtr &body) {
  yielded = nullptr;
  VisitStmt(body);
  std::vector<Held> values;
  if (ir::YieldStmtPtr yield = std::exchange(yielded, nullptr))
    for (const ir::ExprPtr &value : yield->value_)
      values.push_back(valueOf(value));
  return values;
}

void Orchestrator::VisitStmt_(const ir::IfStmtPtr &op) {
  bool taken = integerOf(op->condition_) != 0;
  std::vector<Held> values;
  if (taken || op->else_body_)
    values = bodyOf(taken ? op->then_body_ : *op->else_body_);
  for (size_t i = 0; i < op->return_vars_.size() && i < values.size(); ++i)
    held[op->return_vars_[i].get()] = values[i];
}

void Orchestrator::countTrip(const ir::Span &span) {
  constexpr int64_t maxTrips = 1 << 20;
  if (++trips > maxTrips)
    fail(span, "the loops of an orchestrator run more than " + std::to_string(maxTrips) + " times");
}

void Orchestrator::bindCarried(const std::vector<ir::IterArgPtr> &args) {
  for (const ir::IterArgPtr &arg : args)
    held[arg.get()] = valueOf(arg->initValue_);
}

/// Binds what the body hands on to `targets`.
template <class Targets>
static void assign(std::map<const ir::Var *, Held> &held, const Targets &targets, const std::vector<Held> &values) {
  for (size_t i = 0; i < targets.size() && i < values.size(); ++i)
    held[targets[i].get()] = values[i];
}

void Orchestrator::VisitStmt_(const ir::ForStmtPtr &op) {
  int64_t start = integerOf(op->start_), stop = integerOf(op->stop_), step = integerOf(op->step_);
  if (step == 0)
    fail(op->span_, "the step of a loop must not be 0");
  bindCarried(op->iter_args_);
  std::vector<Held> values;
  for (const ir::IterArgPtr &arg : op->iter_args_)
    values.push_back(held[arg.get()]);
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    countTrip(op->span_);
    held[op->loop_var_.get()] = i;
    values = bodyOf(op->body_);
    assign(held, op->iter_args_, values);
    if (op->iter_args_.empty())
      values.clear();
  }
  assign(held, op->return_vars_, values);
}

void Orchestrator::VisitStmt_(const ir::WhileStmtPtr &op) {
  bindCarried(op->iter_args_);
  while (integerOf(op->condition_) != 0) {
    countTrip(op->span_);
    assign(held, op->iter_args_, bodyOf(op->body_));
  }
  for (size_t i = 0; i < op->return_vars_.size(); ++i)
    held[op->return_vars_[i].get()] = held[op->iter_args_[i].get()];
}

void Orchestrator::VisitScopeStmt_(const ir::ScopeStmtPtr &op) {
  if (ir::IsA<ir::RuntimeScopeStmt>(op) || ir::IsA<ir::ClusterScopeStmt>(op)) // dependencies follow from the tensors
    return VisitStmt(op->body_);
  auto scope = ir::As<ir::InCoreScopeStmt>(op);
  if (!scope)
    fail(op->span_, std::string(ir::KindName(op->kind())) + " is not lowered yet in an orchestrator");
  OutlinedScope &outline = scopes[scope.get()];
  if (!outline.function)
    outline = outlined(scope);
  std::vector<Held> arguments;
  arguments.reserve(outline.function->params_.size());
  for (const ir::VarPtr &param : outline.inputs)
    arguments.push_back(valueOf(param));
  addResults(*outline.function, arguments, op->span_);
  launch(outline.function, arguments, op->span_);
  for (size_t i = 0; i < outline.results.size(); ++i)
    held[outline.results[i].get()] = arguments[outline.inputs.size() + i];
  // Results of stores are the tensors themselves.
  TensorRoots roots = tensorRoots(scope->body_);
  for (const auto &[var, next] : roots)
    if (llvm::any_of(outline.results, [&](const ir::VarPtr &result) { return result.get() == var; }))
      continue;
    else if (auto found = held.find(rootOf(roots, next)); found != held.end())
      held[var] = found->second;
}

} // namespace pto_mlir::pypto_frontend
