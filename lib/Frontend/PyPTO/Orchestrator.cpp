// Statements of an orchestrator.
#include "Orchestrator.h"
#include "TensorsToTiles.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

namespace {

/// Whether an orchestrator reads elements outside of its kernels.
class ElementFinder : public ir::IRVisitor {
public:
  bool found = false;

protected:
  void VisitExpr_(const ir::CallPtr &op) override {
    found |= op->op_->name_ == "tensor.read";
    ir::IRVisitor::VisitExpr_(op);
  }
  void VisitScopeStmt_(const ir::ScopeStmtPtr &op) override {
    if (!ir::IsA<ir::InCoreScopeStmt>(op))
      ir::IRVisitor::VisitScopeStmt_(op);
  }
};

bool decidesAtRunTime(const ir::Program &program, const ir::Function &entry) {
  ElementFinder elements;
  for (const ir::FunctionPtr &function : program.functions_)
    if (function->func_type_ == ir::FunctionType::Orchestration)
      elements.VisitStmt(function->body_);
  return elements.found ||
         llvm::any_of(entry.params_, [](const ir::VarPtr &param) { return ir::IsA<ir::ScalarType>(param->type_); });
}

} // namespace

Orchestrator::Orchestrator(const ir::ProgramPtr &program, const ir::FunctionPtr &entry, const isa::ArchInfo &arch,
                           mlir::MLIRContext &context, const std::map<std::string, int64_t> &sizes, int64_t ranks)
    : program(program), entry(entry->func_type_ == ir::FunctionType::Orchestration ? splitMixedScopes(entry) : entry),
      arch(arch), sizes(sizes), ranks(ranks), current(this->entry) {
  // What the host level reads is given when it is compiled.
  bool isGiven =
      isRanked() && llvm::any_of(sizes, [](const auto &each) { return llvm::StringRef(each.first).contains('('); });
  if ((decidesAtRunTime(*program, *this->entry) && !isGiven) || (leavesOpen() && !isRanked()))
    host = std::make_unique<TaskProgram>(context, program->name_, entry->span_);
}

void Orchestrator::run() {
  std::vector<Held> arguments;
  for (size_t i = 0; i < entry->params_.size(); ++i) {
    const ir::VarPtr &param = entry->params_[i];
    auto type = ir::As<ir::TensorType>(param->type_);
    if (auto scalar = ir::As<ir::ScalarType>(param->type_)) {
      bool isIndex = scalar->dtype_ == pypto::DataType::INDEX;
      std::vector<Number> shape(host ? 0 : 1, Number(1));
      buffers.push_back(
          {param->name_hint_, shape, isIndex ? pypto::DataType::INT64 : scalar->dtype_, ir::ParamDirection::In});
      arguments.push_back(givenElement(param->name_hint_, 0, scalar->dtype_).value_or(Held()));
      if (!host && arguments.back().index() == 0)
        fail(param->span_, "no run has said the number " + param->name_hint_);
      continue;
    }
    if (!type)
      fail(param->span_, "parameter " + param->name_hint_ + " is neither a tensor nor a number");
    std::vector<Number> shape;
    for (const ir::ExprPtr &extent : type->shape_) {
      std::optional<int64_t> known = sizeOf(extent, *param, shape.size());
      if (!known && !host)
        fail(param->span_, "parameter " + param->name_hint_ +
                               " has an extent known at run time, which is not lowered yet at the host level; give its "
                               "number");
      shape.emplace_back(known.value_or(mlir::ShapedType::kDynamic));
    }
    buffers.push_back({param->name_hint_, shape, type->dtype_, entry->param_directions_[i]});
    arguments.emplace_back();
  }
  if (host)
    setUpPorts();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Buffer &buffer = buffers[i];
    if (bool isNumber = ir::IsA<ir::ScalarType>(entry->params_[i]->type_); isNumber && host)
      arguments[i] = buffer.memory;
    else if (!isNumber)
      arguments[i] = View{unsigned(i), 0, {}, buffer.shape, denseStrides(buffer.shape), buffer.dtype};
    held[entry->params_[i].get()] = arguments[i];
  }
  if (entry->func_type_ == ir::FunctionType::Orchestration)
    VisitStmt(entry->body_);
  else if (entry->func_type_ == ir::FunctionType::Group)
    launchTogether(entry->span_, [&] { VisitStmt(entry->body_); });
  else
    launch(entry, arguments, entry->span_);
  deferWaits();
  if (launches.empty() && planned.empty())
    fail(entry->span_, entry->name_ + " launches no kernel");
}

void Orchestrator::VisitStmt_(const ir::AssignStmtPtr &op) {
  if (host)
    host->at(op->span_);
  held[op->var_.get()] = valueOf(op->value_);
}
void Orchestrator::VisitStmt_(const ir::EvalStmtPtr &op) {
  if (host)
    host->at(op->span_);
  (void)valueOf(op->expr_);
}
void Orchestrator::VisitStmt_(const ir::YieldStmtPtr &op) { yielded = op; }

void Orchestrator::VisitStmt_(const ir::ReturnStmtPtr &op) {
  if (depth > 0) {
    returned.clear();
    for (const ir::ExprPtr &value : op->value_)
      returned.push_back(valueOf(value));
    return;
  }
  for (const ir::ExprPtr &value : op->value_) {
    View view = viewOf(value);
    Buffer &buffer = buffers[view.buffer];
    if (!isWhole(view))
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
  Held condition = valueOf(op->condition_);
  if (auto *value = std::get_if<mlir::Value>(&condition))
    return emitBranch(*op, *value);
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
  int64_t step = integerOf(op->step_);
  if (step == 0)
    fail(op->span_, "the step of a loop must not be 0");
  Number first = numberOf(op->start_), last = numberOf(op->stop_);
  // The host level's loops over devices say which of them share a window.
  const int64_t fewTrips = isDispatching() ? 64 : 4;
  bool isShort = first.isKnown() && last.isKnown() && (last.known - first.known) / step <= fewTrips;
  if (host && !isShort)
    return emitLoop(
        {op->iter_args_, op->return_vars_, op->body_, Counter{op->loop_var_, first, last, step}, nullptr, op->span_});
  int64_t start = first.known, stop = last.known;
  bindCarried(op->iter_args_);
  std::vector<Held> values, joined;
  for (const ir::IterArgPtr &arg : op->iter_args_)
    values.push_back(held[arg.get()]);
  const std::vector<Held> initial = values;
  bool isParallel = op->kind_ == ir::ForKind::Parallel;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    countTrip(op->span_);
    held[op->loop_var_.get()] = i;
    values = bodyOf(op->body_);
    assign(held, op->iter_args_, values);
    if (op->iter_args_.empty())
      values.clear();
    if (!isParallel)
      continue;
    joinTasks(joined, values);
    for (size_t arg = 0; arg < initial.size(); ++arg) // no iteration waits for another one
      if (auto *task = std::get_if<Task>(&initial[arg]); task && !task->elements)
        held[op->iter_args_[arg].get()] = *task;
  }
  assign(held, op->return_vars_, joined.empty() ? values : joined);
}

void Orchestrator::VisitStmt_(const ir::WhileStmtPtr &op) {
  if (host)
    return emitLoop({op->iter_args_, op->return_vars_, op->body_, std::nullopt, op->condition_, op->span_});
  bindCarried(op->iter_args_);
  while (integerOf(op->condition_) != 0) {
    countTrip(op->span_);
    assign(held, op->iter_args_, bodyOf(op->body_));
  }
  for (size_t i = 0; i < op->return_vars_.size(); ++i)
    held[op->return_vars_[i].get()] = held[op->iter_args_[i].get()];
}

void Orchestrator::VisitScopeStmt_(const ir::ScopeStmtPtr &op) {
  // Dependencies follow from the tensors; a part of the host level for a device runs on the first one.
  if (ir::IsA<ir::ClusterScopeStmt>(op))
    return launchTogether(op->span_, [&] { VisitStmt(op->body_); });
  if (auto runtime = ir::As<ir::RuntimeScopeStmt>(op)) {
    uint32_t outer = std::exchange(scope, runtime->manual_ ? ++manualScopes : scope);
    VisitStmt(op->body_);
    scope = outer;
    return;
  }
  if (ir::IsA<ir::HierarchyScopeStmt>(op))
    return VisitStmt(op->body_);
  if (auto blocks = ir::As<ir::SpmdScopeStmt>(op))
    return runBlocks(*blocks);
  auto scope = ir::As<ir::InCoreScopeStmt>(op);
  if (!scope)
    fail(op->span_, std::string(ir::KindName(op->kind())) + " is not lowered yet in an orchestrator");
  OutlinedScope &outline = scopes[scope.get()];
  if (!outline.function)
    outline = outlineScope(scope, *current, scopes.size() - 1, arch);
  std::vector<Held> arguments;
  arguments.reserve(outline.function->params_.size());
  for (const ir::VarPtr &param : outline.inputs)
    arguments.push_back(valueOf(param));
  if (host)
    host->at(op->span_);
  addResults(*outline.function, arguments, op->span_);
  markDumped(scope->attrs_, {outline.inputs.begin(), outline.inputs.end()});
  size_t first = launches.size();
  launch(outline.function, arguments, op->span_);
  dumped.clear();
  noteDeps(scope->attrs_, first);
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
