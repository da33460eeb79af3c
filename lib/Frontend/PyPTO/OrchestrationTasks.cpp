// Tasks of an orchestrator in C++: kernels, their numbers and the directions of their tensors.
#include "OrchestrationText.h"

#include "Groups.h"
#include "JoinLanes.h"
#include "MixedKernels.h"
#include "Plan.h"
#include "TensorsToTiles.h"
#include "TileNodes.h"
#include "Types.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

int OrchestrationText::numberOf(const ir::FunctionPtr &kernel) {
  auto known = llvm::find_if(now.kernels, [&](const ir::FunctionPtr &each) { return each->name_ == kernel->name_; });
  if (known == now.kernels.end()) {
    now.kernels.push_back(kernel);
    return int(now.kernels.size()) - 1;
  }
  if (*known != kernel)
    fail(kernel->span_, "two kernels are called " + kernel->name_ + "; give a scope a name_hint of its own");
  return int(known - now.kernels.begin());
}

/// What a pure output is for the run: it is read as well where other tasks of the scope may have written the memory.
ir::ParamDirection OrchestrationText::directionOf(const Named &tensor, ir::ParamDirection declared) const {
  bool isShared = loops || now.written.count(tensor.root) || now.inouts.count(tensor.root);
  return declared == ir::ParamDirection::Out && isShared ? ir::ParamDirection::InOut : declared;
}

/// Memory of a task for its queues, behind its tensors: each block has a part.
TaskArgument OrchestrationText::queueMemory(const ir::Function &cube, const ir::Function &vector) {
  int64_t words = queueSpaceOf(cube).words;
  std::string size = said.blocks.empty() ? std::to_string(words) : stepOf(ir::NodeKind::Mul, said.blocks, words);
  Named memory = create({size}, pypto::DataType::FP32, "gm_pipe_buffer", nullptr);
  now.withQueues.insert({cube.name_, vector.name_});
  return {memory.name, ir::ParamDirection::Out, memory.dtype, true};
}

/// The kernels of a scope that became one task are ordered by their queues only, so no tensor that one of them writes
/// is passed twice.
void OrchestrationText::checkIndependent(const ir::Function &group, const Values &arguments,
                                         const ir::Span &span) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t j = 0; j < arguments.size(); ++j)
      if (i != j && arguments[i].isTensor && arguments[j].isTensor && arguments[i].root == arguments[j].root &&
          group.param_directions_[i] != ir::ParamDirection::In)
        fail(span, group.name_ + ": arguments " + group.params_[i]->name_hint_ + " and " +
                       group.params_[j]->name_hint_ + " share memory; it is no task of both kinds of core");
}

void OrchestrationText::submit(const ir::FunctionPtr &kernel, const Values &arguments, const ir::Span &span) {
  std::vector<TaskArgument> tensors, numbers;
  Bindings extents;
  std::vector<std::string> written;
  for (size_t i = 0; i < kernel->params_.size(); ++i) {
    const Named &argument = arguments[i];
    const ir::VarPtr &param = kernel->params_[i];
    auto type = ir::As<ir::TensorType>(param->type_);
    if (!type) {
      auto scalar = ir::As<ir::ScalarType>(param->type_);
      if (!scalar || argument.isTensor)
        fail(span, kernel->name_ + ": argument " + param->name_hint_ + " must be a number");
      numbers.push_back({argument.name, std::nullopt, scalar->dtype_});
      continue;
    }
    std::string who = kernel->name_ + ": argument " + param->name_hint_;
    if (!argument.isTensor || argument.dtype != type->dtype_)
      fail(span, who + " is not the tensor that the kernel declares");
    bindExtents(type->shape_, argument.shape, extents, who, span);
    std::string strided = who + " is a view with strides; a kernel of the output tree takes dense tensors";
    if (argument.dense == Dense::No)
      fail(span, strided);
    if (argument.dense == Dense::AtRunTime)
      expect(argument.name + ".isDense()", span, strided);
    ir::ParamDirection direction = directionOf(argument, kernel->param_directions_[i]);
    tensors.push_back({argument.name, direction, type->dtype_, !llvm::is_contained(untracked, int64_t(i))});
    if (direction != ir::ParamDirection::In)
      written.push_back(argument.root);
  }
  if (kernel->func_type_ == ir::FunctionType::Group) {
    auto [cube, vector] = sidesOf(*kernel);
    int first = numberOf(cube), second = numberOf(vector);
    bool areOne = queueSpaceOf(*cube).words > 0;
    if (areOne && ir::FindAttr(kernel->attrs_, kFormedAttr))
      checkIndependent(*kernel, arguments, span);
    if (areOne && !pto::findTarget(arch.name)->directTiles)
      tensors.push_back(queueMemory(*cube, *vector));
    tensors.insert(tensors.end(), numbers.begin(), numbers.end());
    if (areOne) {
      withPlace(span, [&] { api->submitBoth(now.tasks++, first, second, kernel->name_, tensors, said); });
    } else { // nothing that they wait for: one after the other
      api->submit(now.tasks++, first, cube->name_, ir::CoreType::CUBE, tensors, said);
      api->submit(now.tasks++, second, vector->name_, ir::CoreType::VECTOR, tensors, said);
    }
  } else {
    tensors.insert(tensors.end(), numbers.begin(), numbers.end());
    int id = numberOf(kernel);
    auto core = pypto::codegen::InferFunctionCoreType(kernel);
    if (core == ir::CoreType::VECTOR && asksForLane(kernel->body_))
      api->submitLanes(now.tasks++, id, kernel->name_, tensors, said);
    else
      api->submit(now.tasks++, id, kernel->name_, core, tensors, said);
  }
  now.written.insert(written.begin(), written.end());
}

std::pair<ir::CallPtr, ir::FunctionPtr> OrchestrationText::calledBy(const ir::StmtPtr &stmt) const {
  auto op = ir::As<ir::Call>(expressionOf(stmt));
  return {op, op && ir::IsA<ir::GlobalVar>(op->op_) ? program->GetFunction(op->op_->name_) : nullptr};
}

std::pair<ir::FunctionPtr, ir::FunctionPtr> OrchestrationText::sidesOf(const ir::Function &group) const {
  ir::FunctionPtr cube, vector;
  for (const ir::StmtPtr &stmt : ir::FlattenStmts(group.body_)) {
    auto [op, callee] = calledBy(stmt);
    if (!callee)
      continue;
    bool isCube = callee->func_type_ == ir::FunctionType::AIC;
    if (!isCube && callee->func_type_ != ir::FunctionType::AIV)
      fail(stmt->span_, group.name_ + " calls functions of type AIC and AIV; " + callee->name_ + " is none");
    ir::FunctionPtr &side = isCube ? cube : vector;
    bool passesAll = op->args_.size() == group.params_.size() &&
                     std::equal(op->args_.begin(), op->args_.end(), group.params_.begin(),
                                [](const ir::ExprPtr &arg, const ir::VarPtr &param) { return arg == param; });
    if (side || !passesAll)
      fail(stmt->span_,
           group.name_ + " is one task: it calls one function of each kind of core, with all that it gets");
    side = callee;
  }
  if (!cube || !vector)
    fail(group.span_, group.name_ + " is one task of both kinds of core, but calls functions of one kind only");
  return {cube, vector};
}

OrchestrationText::Values OrchestrationText::call(const ir::Call &op) {
  ir::FunctionPtr kernel = program->GetFunction(op.op_->name_);
  if (!kernel || !(isKernel(*kernel) || kernel->func_type_ == ir::FunctionType::Group))
    fail(op.span_, "an orchestrator calls kernels; " + op.op_->name_ + " is none");
  ir::VarPtr bound = std::exchange(target, nullptr);
  Values arguments;
  for (size_t i = 0; i < op.args_.size(); ++i)
    if (auto scalar = ir::As<ir::ScalarType>(kernel->params_[i]->type_))
      arguments.push_back({number(op.args_[i]), "", {}, scalar->dtype_});
    else
      arguments.push_back(tensorOf(op.args_[i]));
  Bindings extents;
  for (size_t i = 0; i < arguments.size() && arguments.size() < kernel->params_.size(); ++i)
    if (auto type = ir::As<ir::TensorType>(kernel->params_[i]->type_))
      bindExtents(type->shape_, arguments[i].shape, extents,
                  kernel->name_ + ": argument " + kernel->params_[i]->name_hint_, op.span_);
  for (size_t i = arguments.size(); i < kernel->params_.size(); ++i) {
    auto type = ir::As<ir::TensorType>(kernel->params_[i]->type_);
    if (!type)
      fail(op.span_, kernel->name_ + ": argument " + kernel->params_[i]->name_hint_ + " is missing");
    bool isResult = bound && i + 1 == kernel->params_.size() && i == op.args_.size();
    arguments.push_back(create(extentsWith(extents, type->shape_), type->dtype_,
                               isResult ? bound->name_hint_ : kernel->params_[i]->name_hint_,
                               isResult ? bound : nullptr));
  }
  submit(kernel, arguments, op.span_);
  if (kernel->func_type_ != ir::FunctionType::Group)
    return resultsOf(*kernel, arguments);
  ir::FunctionPtr vector = sidesOf(*kernel).second;
  if (vector->return_types_.size() != kernel->return_types_.size())
    fail(kernel->span_, kernel->name_ + " gives other results than its function of the vector cores");
  return resultsOf(*vector, arguments);
}

/// What a kernel returns is some of its tensors; without a return statement its first output.
OrchestrationText::Values OrchestrationText::resultsOf(const ir::Function &kernel, const Values &arguments) const {
  Values results;
  auto give = [&](const ir::Var *param) {
    for (size_t i = 0; i < kernel.params_.size(); ++i)
      if (kernel.params_[i].get() == param)
        results.push_back(arguments[i]);
  };
  std::vector<ir::StmtPtr> body = ir::FlattenStmts(kernel.body_);
  auto ret = body.empty() ? nullptr : ir::As<ir::ReturnStmt>(body.back());
  if (ret && !ret->value_.empty()) {
    TensorRoots roots = tensorRoots(kernel.body_);
    for (const ir::ExprPtr &value : ret->value_)
      if (auto var = ir::As<ir::Var>(value))
        give(rootOf(roots, var.get()));
    if (results.size() != ret->value_.size())
      fail(ret->span_, kernel.name_ + " returns what is none of its tensors; store it into an output");
    return results;
  }
  for (size_t i = 0; i < kernel.params_.size() && results.empty(); ++i)
    if (kernel.param_directions_[i] != ir::ParamDirection::In && arguments[i].isTensor)
      results.push_back(arguments[i]);
  return results;
}

void OrchestrationText::launch(const std::shared_ptr<const ir::InCoreScopeStmt> &scope) {
  OutlinedScope &outline = scopes[scope.get()];
  if (!outline.function)
    outline = outlineScope(scope, *entry, scopes.size() - 1, arch);
  if (!said.blocks.empty() && !outline.results.empty())
    fail(scope->span_, outline.results[0]->name_hint_ +
                           " is made by each block, and read by another kernel of pl.spmd; "
                           "the C++ of an orchestrator has tensors for all blocks");
  Values arguments;
  for (const ir::VarPtr &input : outline.inputs)
    arguments.push_back(valuesOf(input).front());
  for (size_t i = 0; i < outline.results.size(); ++i) {
    auto type = ir::As<ir::TensorType>(outline.function->params_[outline.inputs.size() + i]->type_);
    arguments.push_back(
        create(extents(type->shape_), type->dtype_, outline.results[i]->name_hint_, outline.results[i]));
    now.held[outline.results[i].get()] = {arguments.back()};
  }
  TaskLaunch outer = said;
  if (outer.saysNothing())
    said = launchOf(*scope);
  nameTask(*scope, said);
  submit(outline.function, arguments, scope->span_);
  said = outer;
  // Results of stores are the tensors themselves.
  TensorRoots roots = tensorRoots(scope->body_);
  for (const auto &[var, next] : roots)
    if (auto held = now.held.find(rootOf(roots, next)); held != now.held.end() && !now.held.count(var))
      now.held[var] = held->second;
}

/// Whether the kernels of a cluster wait for each other, as those of a Group do.
bool OrchestrationText::callsOneKindOfCore(const ir::ClusterScopeStmt &scope) const {
  return llvm::any_of(ir::FlattenStmts(scope.body_), [&](const ir::StmtPtr &stmt) {
    ir::FunctionPtr callee = calledBy(stmt).second;
    return callee && (callee->func_type_ == ir::FunctionType::AIC || callee->func_type_ == ir::FunctionType::AIV);
  });
}

/// A scope of blocks is a task of each kernel in it, which has all blocks: so what a block makes has no place of its
/// own.
void OrchestrationText::launchBlocks(const ir::SpmdScopeStmt &scope) {
  if (!said.blocks.empty())
    fail(scope.span_, "blocks inside of blocks: pl.spmd does not nest");
  said = launchOf(scope);
  addBlocks(said, scope.core_num_, scope.sync_start_, scope.span_);
  nameTask(scope, said);
  VisitStmt(scope.body_);
  said = {};
}

} // namespace pto_mlir::pypto_frontend
