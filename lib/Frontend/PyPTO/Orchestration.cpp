// Statements of an orchestrator as C++, and the public entry.
#include "OrchestrationText.h"

#include "BlockBarriers.h"
#include "BlockPhases.h"
#include "JoinLanes.h"
#include "TensorsToTiles.h"
#include "Types.h"
#include "pto_mlir/Support/FreeName.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

/// The calls of March 2026 have no tasks of both vector cores.
static ir::FunctionPtr preparedEntry(const ir::FunctionPtr &entry, pypto::codegen::OrchestrationApi api) {
  bool hasLanes = api == pypto::codegen::OrchestrationApi::Today;
  return cutAtKernels(splitMixedScopes(hasLanes ? joinLanesOfScopes(entry) : entry));
}

OrchestrationText::OrchestrationText(const ir::ProgramPtr &program, const ir::FunctionPtr &entry,
                                     pypto::codegen::OrchestrationApi api, const isa::ArchInfo &arch,
                                     std::vector<Returned> returned)
    : program(program), entry(preparedEntry(entry, api)), arch(arch), returned(std::move(returned)),
      api(OrchestrationApi::make(api, arch, now.out)) {}

void OrchestrationText::run() {
  std::vector<EntryArgument> arguments;
  auto add = [&](const ir::VarPtr &var) {
    auto tensor = ir::As<ir::TensorType>(var->type_);
    auto scalar = ir::As<ir::ScalarType>(var->type_);
    if (!tensor && !scalar)
      fail(var->span_, "parameter " + var->name_hint_ + " is neither a tensor nor a number");
    arguments.push_back({fresh(var->name_hint_), tensor ? tensor->dtype_ : scalar->dtype_, {}, bool(tensor)});
  };
  for (const ir::VarPtr &param : entry->params_)
    add(param);
  open = entryExtents(arguments);
  for (size_t i = 0; i < entry->params_.size(); ++i) {
    const EntryArgument &argument = arguments[i];
    std::string name = argument.isTensor ? "ext_" + argument.name : argument.name;
    now.held[entry->params_[i].get()] = {{name, name, argument.shape, argument.dtype, argument.isTensor}};
    if (entry->param_directions_[i] == ir::ParamDirection::InOut)
      now.inouts.insert(name);
  }
  for (const auto &[var, type] : returned) {
    add(var);
    EntryArgument &argument = arguments.back();
    argument.shape = extents(ir::As<ir::TensorType>(type)->shape_);
    std::string name = "ext_" + argument.name;
    now.held[var.get()] = {{name, name, argument.shape, argument.dtype, true}};
  }
  api->begin(arguments, open);
  checkEntry(arguments, open);
  VisitStmt(entry->body_);
  api->end();
  if (!now.tasks)
    fail(entry->span_, entry->name_ + " launches no kernel");
}

pypto::codegen::OrchestrationResult OrchestrationText::result() const {
  pypto::codegen::OrchestrationResult result;
  result.code = now.out.GetCode();
  for (size_t id = 0; id < now.kernels.size(); ++id) {
    result.func_name_to_id[now.kernels[id]->name_] = int(id);
    result.func_name_to_core_type[now.kernels[id]->name_] = pypto::codegen::InferFunctionCoreType(now.kernels[id]);
  }
  result.with_queues = now.withQueues;
  result.kernels = std::make_shared<const ir::Program>(now.kernels, program->name_, program->span_);
  for (const EntryExtent &extent : open)
    result.extents.push_back(symbols.at(extent.name)->name_hint_);
  for (const auto &[var, type] : returned)
    result.returned.push_back(std::make_shared<const ir::Var>(var->name_hint_, type, var->span_));
  return result;
}

/// A name that the C++ does not have yet.
std::string OrchestrationText::fresh(const std::string &hint) {
  std::string name;
  for (char c : hint)
    name += isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (name.empty() || isdigit(static_cast<unsigned char>(name[0])))
    name = "_" + name;
  // Names of the entry point itself.
  static const std::set<std::string> kTaken = {"rt", "args", "arg_count", "orch_args"};
  return freeName(name, [&](const std::string &each) { return kTaken.count(each) || !now.names.insert(each).second; });
}

void OrchestrationText::bind(const ir::VarPtr &var, const ir::ExprPtr &value) {
  target = var;
  auto scalar = ir::As<ir::ScalarType>(var->type_);
  if (scalar && scalar->dtype_ == pypto::DataType::TASK_ID) {
    now.held[var.get()] = {declared(var, number(value), nullptr)};
  } else if (scalar) {
    definitions[var.get()] = value;
    std::string text = number(value);
    bool isExtent = symbols.count(text);
    now.held[var.get()] = {isExtent ? Named{text, "", {}, scalar->dtype_} : declared(var, text, nullptr)};
  } else
    now.held[var.get()] = valuesOf(value);
  target = nullptr;
}

void OrchestrationText::VisitStmt_(const ir::AssignStmtPtr &op) {
  withPlace(op->span_, [&] { bind(op->var_, op->value_); });
}
void OrchestrationText::VisitStmt_(const ir::EvalStmtPtr &op) {
  withPlace(op->span_, [&] { (void)valuesOf(op->expr_); });
}
void OrchestrationText::VisitStmt_(const ir::YieldStmtPtr &op) { yielded = op; }
void OrchestrationText::VisitStmt_(const ir::BreakStmtPtr &) { now.out.EmitLine("break;"); }
void OrchestrationText::VisitStmt_(const ir::ContinueStmtPtr &) { now.out.EmitLine("continue;"); }

void OrchestrationText::VisitStmt_(const ir::ReturnStmtPtr &op) {
  for (const ir::ExprPtr &value : op->value_) {
    Named tensor = tensorOf(value);
    if (tensor.name.starts_with("ext_") && tensor.name == tensor.root)
      continue;
    auto made = now.made.find(tensor.root);
    if (made == now.made.end() || tensor.name != tensor.root)
      fail(value->span_, "an orchestrator returns whole tensors that one statement makes");
    const ir::VarPtr &var = made->second;
    if (llvm::none_of(found, [&](const Returned &each) { return each.var == var; }))
      found.push_back({var, returnedType(*var, value->span_)});
  }
}

/// What the body hands on.
OrchestrationText::Values OrchestrationText::bodyOf(const ir::StmtPtr &body) {
  yielded = nullptr;
  VisitStmt(body);
  Values values;
  if (ir::YieldStmtPtr yield = std::exchange(yielded, nullptr))
    for (const ir::ExprPtr &value : yield->value_) {
      if (ir::IsA<ir::ScalarType>(value->type_))
        values.push_back({number(value), "", {}, ir::As<ir::ScalarType>(value->type_)->dtype_});
      else
        values.push_back(carriedOf(value));
    }
  return values;
}

/// A tensor, or an array of tasks.
OrchestrationText::Named OrchestrationText::carriedOf(const ir::ExprPtr &expr) {
  return ir::IsA<ir::ArrayType>(expr->type_) ? valuesOf(expr).front() : tensorOf(expr);
}

/// Declares a variable: a number, or a tensor with the shape of `like`, whose memory is not known then.
OrchestrationText::Named OrchestrationText::declared(const ir::VarPtr &var, const std::string &initial,
                                                     const Named *like) {
  Named named = like ? *like : Named();
  named.name = named.root = fresh(var->name_hint_);
  std::string type = "Tensor";
  if (auto scalar = ir::As<ir::ScalarType>(var->type_)) {
    named.dtype = scalar->dtype_;
    type = numberType(scalar->dtype_);
  } else if (auto array = ir::As<ir::ArrayType>(var->type_)) {
    type = "std::array<PTO2TaskId, " + std::to_string(*ir::ConstantInt(array->extent_)) + ">";
  }
  now.out.EmitLine(type + " " + named.name + (initial.empty() ? "" : " = " + initial) + ";");
  return named;
}

/// `targets[i] = values[i];` where `moves`; all are read before the first is written.
void OrchestrationText::assign(const Values &targets, const Values &values, const std::vector<bool> &moves) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < targets.size(); ++i)
    if (moves[i] && targets[i].name != values[i].name)
      pairs.emplace_back(targets[i].name, values[i].name);
  if (pairs.size() > 1)
    for (auto &[name, value] : pairs) {
      std::string next = fresh(name + "_next");
      now.out.EmitLine("auto " + next + " = " + value + ";");
      value = next;
    }
  for (const auto &[name, value] : pairs)
    now.out.EmitLine(name + " = " + value + ";");
}

void OrchestrationText::VisitStmt_(const ir::IfStmtPtr &op) {
  size_t count = op->return_vars_.size();
  std::vector<bool> moves;
  for (const ir::VarPtr &var : op->return_vars_)
    moves.push_back(ir::IsA<ir::ScalarType>(var->type_));
  std::string condition = number(op->condition_);
  for (State before = now;; now = before) {
    Values results(count);
    for (size_t i = 0; i < count; ++i)
      if (moves[i])
        results[i] = declared(op->return_vars_[i], "", nullptr);
    now.out.EmitLine("if (" + condition + ") {");
    std::vector<Values> arms;
    for (const ir::StmtPtr &arm : {op->then_body_, op->else_body_.value_or(nullptr)}) {
      if (!arm)
        continue;
      if (!arms.empty())
        now.out.EmitLine("} else {");
      now.out.IncreaseIndent();
      api->openScope(/*isManual=*/false);
      arms.push_back(bodyOf(arm));
      arms.back().resize(count);
      assign(results, arms.back(), moves);
      api->closeScope();
      now.out.DecreaseIndent();
    }
    now.out.EmitLine("}");
    bool again = false;
    for (size_t i = 0; i < count; ++i) {
      bool differ = arms.size() == 2 && arms[0][i].name != arms[1][i].name;
      again |= differ && !moves[i];
      moves[i] = moves[i] || differ;
      Named like = arms[0][i];
      if (moves[i])
        like.name = like.root = results[i].name;
      if (differ && like.isTensor && !isAlike(arms[0][i], arms[1][i]))
        like = loosened(like);
      now.held[op->return_vars_[i].get()] = {like};
    }
    if (!again)
      return;
  }
}

void OrchestrationText::loop(const std::string &head, const std::vector<ir::IterArgPtr> &args,
                             const std::vector<ir::VarPtr> &results, const ir::StmtPtr &body,
                             const ir::ExprPtr &condition) {
  std::vector<bool> moves, isLoose(args.size());
  moves.reserve(args.size());
  for (const ir::IterArgPtr &arg : args)
    moves.push_back(ir::IsA<ir::ScalarType>(arg->type_));
  for (State before = now;; now = before) {
    Values carried;
    for (size_t i = 0; i < args.size(); ++i) {
      bool isNumber = ir::IsA<ir::ScalarType>(args[i]->type_);
      Named initial = isNumber ? Named() : carriedOf(args[i]->initValue_);
      if (isNumber)
        initial.name = number(args[i]->initValue_);
      carried.push_back(moves[i] ? declared(args[i], initial.name, &initial) : initial);
      if (isLoose[i])
        carried.back() = loosened(carried.back());
      now.held[args[i].get()] = {carried.back()};
    }
    now.out.EmitLine(condition ? "while (" + number(condition) + ") {" : head);
    now.out.IncreaseIndent();
    api->openScope(/*isManual=*/false);
    Values values = bodyOf(body);
    values.resize(args.size());
    assign(carried, values, moves);
    api->closeScope();
    now.out.DecreaseIndent();
    now.out.EmitLine("}");
    bool again = false;
    for (size_t i = 0; i < args.size(); ++i) {
      bool differ = !moves[i] && values[i].name != carried[i].name;
      bool isOther = carried[i].isTensor && !isLoose[i] && !isAlike(carried[i], values[i]);
      again |= differ || isOther;
      moves[i] = moves[i] || differ;
      isLoose[i] = isLoose[i] || isOther;
      if (i < results.size())
        now.held[results[i].get()] = {carried[i]};
    }
    if (!again)
      return;
  }
}

void OrchestrationText::VisitStmt_(const ir::ForStmtPtr &op) {
  auto step = ir::ConstantInt(op->step_);
  if (!step || *step == 0)
    fail(op->span_, "the step of a loop is a number other than 0");
  std::string name = fresh(op->loop_var_->name_hint_);
  now.held[op->loop_var_.get()] = {{name, "", {}, pypto::DataType::INT64}};
  std::string head = "for (int64_t " + name + " = " + number(op->start_) + "; " + name + (*step > 0 ? " < " : " > ") +
                     number(op->stop_) + "; " + name + " += " + std::to_string(*step) + ") {";
  bool inOrder = op->kind_ != ir::ForKind::Parallel;
  loops += inOrder;
  loop(head, op->iter_args_, op->return_vars_, op->body_, nullptr);
  loops -= inOrder;
}

void OrchestrationText::VisitStmt_(const ir::WhileStmtPtr &op) {
  ++loops;
  loop("", op->iter_args_, op->return_vars_, op->body_, op->condition_);
  --loops;
}

void OrchestrationText::VisitScopeStmt_(const ir::ScopeStmtPtr &op) {
  withPlace(op->span_, [&] {
    if (auto scope = ir::As<ir::InCoreScopeStmt>(op))
      return launch(scope);
    if (auto scope = ir::As<ir::SpmdScopeStmt>(op))
      return launchBlocks(*scope);
    if (auto scope = ir::As<ir::ClusterScopeStmt>(op); scope && !callsOneKindOfCore(*scope))
      return VisitStmt(op->body_);
    auto scope = ir::As<ir::RuntimeScopeStmt>(op);
    if (!scope)
      fail(op->span_, std::string(ir::KindName(op->kind())) + " has no form in the C++ of an orchestrator yet");
    runScope(*scope);
  });
}

} // namespace pto_mlir::pypto_frontend

namespace pypto::codegen {

OrchestrationResult GenerateOrchestration(const ir::ProgramPtr &program, const ir::FunctionPtr &function,
                                          OrchestrationApi api, const std::string &processor) {
  using namespace pto_mlir::pypto_frontend;
  CHECK(program && function) << "the C++ of an orchestrator needs a program and a function of it";
  CHECK(function->func_type_ == ir::FunctionType::Orchestration)
      << function->name_ << " is no orchestrator; mark it with type=pl.FunctionType.Orchestration";
  const pto_mlir::isa::ArchInfo *arch = pto_mlir::isa::findArch(processor);
  CHECK(arch) << "unknown processor " << processor;
  ir::ProgramPtr bare = lowerBlockBarriers(program);
  ir::FunctionPtr entry = bare == program ? function : bare->GetFunction(function->name_);
  std::vector<OrchestrationText::Returned> returned;
  for (;;) {
    OrchestrationText text(tensorsToTiles(bare, *arch), entry, api, *arch, returned);
    text.run();
    if (text.newlyReturned().empty())
      return text.result();
    returned.insert(returned.end(), text.newlyReturned().begin(), text.newlyReturned().end());
  }
}

} // namespace pypto::codegen
