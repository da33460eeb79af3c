// Tasks as values of an orchestrator in C++: what launches wait for, arrays of tasks, predicates.
#include "OrchestrationText.h"
#include "Types.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using ir::NodeKind;

OrchestrationText::Values OrchestrationText::submitted(const ir::Submit &op) {
  TaskLaunch outer = said;
  said = {};
  said.after = tasksOf(op.deps_);
  if (op.core_num_)
    addBlocks(said, op.core_num_, op.sync_start_, op.span_);
  if (op.predicate_)
    addPredicate(said, op.predicate_);
  said.task = fresh("task");
  api->declareTask({said.task});
  if (const auto *given = ir::FindAttr<std::vector<int64_t>>(op.attrs_, "arg_direction_overrides"))
    untracked = *given;
  Named task{said.task, "", {}, pypto::DataType::TASK_ID};
  Values results = call(op);
  untracked.clear();
  said = outer;
  results.push_back(task);
  return results;
}

std::vector<TaskName> OrchestrationText::tasksOf(const std::vector<ir::ExprPtr> &deps) {
  std::vector<TaskName> tasks;
  for (const ir::ExprPtr &dep : deps) {
    Named value = valuesOf(dep).front();
    tasks.push_back({value.name, value.elements});
  }
  return tasks;
}

void OrchestrationText::addBlocks(TaskLaunch &launch, const ir::ExprPtr &count, bool together, const ir::Span &span) {
  std::string text = number(count);
  auto known = knownExtent(text);
  if (known && *known < 1)
    fail(span, "pl.spmd needs at least one block");
  if (!known)
    expect(text + " >= 1", span, "pl.spmd needs at least one block");
  launch.blocks = known ? text : "static_cast<uint32_t>(" + text + ")";
  launch.together = together;
}

/// An element of a tensor compared with an integer, on either side.
void OrchestrationText::addPredicate(TaskLaunch &launch, const ir::ExprPtr &condition) {
  struct Row {
    NodeKind kind;
    const char *name, *mirrored;
  };
  static constexpr Row kRows[] = {{NodeKind::Eq, "EQ", "EQ"}, {NodeKind::Ne, "NE", "NE"}, {NodeKind::Gt, "GT", "LT"},
                                  {NodeKind::Lt, "LT", "GT"}, {NodeKind::Ge, "GE", "LE"}, {NodeKind::Le, "LE", "GE"}};
  auto both = ir::As<ir::BinaryExpr>(condition);
  const Row *row = llvm::find_if(kRows, [&](const Row &each) { return both && each.kind == both->kind(); });
  auto bare = [](ir::ExprPtr side) {
    while (auto cast = ir::As<ir::Cast>(side))
      side = cast->operand_;
    return side;
  };
  bool isMirrored = both && ir::ConstantInt(bare(both->left_)).has_value();
  ir::ExprPtr element = both ? bare(isMirrored ? both->right_ : both->left_) : nullptr;
  auto target = both ? ir::ConstantInt(bare(isMirrored ? both->left_ : both->right_)) : std::nullopt;
  auto read = element ? ir::As<ir::Call>(element) : nullptr;
  if (row == std::end(kRows) || !target || !read || read->op_->name_ != "tensor.read")
    fail(condition->span_, "a predicate compares an element of a tensor with an integer");
  ir::OpView view(*read);
  Named tensor = tensorOf(view.Operand("x"));
  if (!tensor.dtype.IsInt() || !tensor.dtype.IsSigned())
    fail(condition->span_, "a predicate reads signed integers, not " + std::string(tensor.dtype.Name()));
  launch.predicate = {tensor.name, isMirrored ? row->mirrored : row->name, {}, *target};
  for (const ir::ExprPtr &index : view.Elements("indices"))
    launch.predicate.indices.push_back(number(index));
}

OrchestrationText::Named OrchestrationText::taskOperation(const ir::OpView &call, const ir::Call &op) {
  std::string_view name = call.row()->name;
  Named task{"", "", {}, pypto::DataType::TASK_ID};
  if (name == "system.task_invalid") {
    task.name = "PTO2TaskId::invalid()";
    return task;
  }
  if (name == "system.task_dummy") {
    TaskLaunch launch;
    launch.after = tasksOf(op.args_.empty() ? op.args_ : call.Elements("deps"));
    task.name = launch.task = fresh("task");
    api->declareTask({task.name});
    api->submitNothing(now.tasks++, launch);
    return task;
  }
  if (name == "array.create") {
    auto extent = ir::ConstantInt(call.Operand("extent"));
    if (call.Keyword<pypto::DataType>("dtype") != pypto::DataType::TASK_ID)
      fail(op.span_, "arrays of numbers are not lowered yet in an orchestrator; use a tensor");
    if (!extent || *extent < 1)
      fail(op.span_, "an array needs at least one element");
    task.name = fresh(target ? target->name_hint_ : "tasks");
    task.elements = *extent;
    api->declareTask({task.name, task.elements});
    return task;
  }
  if (!call.row()->name.starts_with("array."))
    fail(op.span_, op.op_->name_ + " has no form in the C++ of an orchestrator");
  Named array = valuesOf(call.Operand("array")).front();
  if (!array.elements)
    fail(op.span_, "an array of tasks is needed here");
  std::string element = place(call, array);
  if (name == "array.get_element") {
    task.name = element;
    return task;
  }
  now.out.EmitLine(element + " = " + number(call.Operand("value")) + ";");
  return array;
}

/// An element of an array.
std::string OrchestrationText::place(const ir::OpView &call, const Named &array) {
  ir::ExprPtr index = call.Operand("index");
  std::string text = number(index);
  if (auto known = knownExtent(text)) {
    if (*known < 0 || *known >= array.elements)
      fail(index->span_, "the array has no element " + text + "; it has " + std::to_string(array.elements));
    return array.name + "[" + text + "]";
  }
  expect(text + " >= 0 && " + text + " < " + std::to_string(array.elements), index->span_,
         "an index outside of an array");
  return array.name + "[static_cast<size_t>(" + text + ")]";
}

/// What a scope says of its tasks.
TaskLaunch OrchestrationText::launchOf(const ir::ScopeStmt &scope) {
  TaskLaunch launch;
  if (const auto *deps = ir::FindAttr<std::vector<ir::ExprPtr>>(scope.attrs_, "manual_dep_edges"))
    launch.after = tasksOf(*deps);
  return launch;
}

/// A scope `as task`: the variable is its last kernel's task.
void OrchestrationText::nameTask(const ir::ScopeStmt &scope, TaskLaunch &launch) {
  const auto *given = ir::FindAttr<ir::ExprPtr>(scope.attrs_, "task_id_var");
  if (!given)
    return;
  auto var = ir::As<ir::Var>(*given);
  if (auto known = now.held.find(var.get()); known != now.held.end()) {
    launch.task = known->second.front().name;
    return;
  }
  launch.task = fresh(var->name_hint_);
  api->declareTask({launch.task});
  now.held[var.get()] = {{launch.task, "", {}, pypto::DataType::TASK_ID}};
}

/// What a scope names is known in it only; tensors of the entry stay what they are.
void OrchestrationText::runScope(const ir::RuntimeScopeStmt &scope) {
  Bindings before = now.held;
  api->openScope(scope.manual_);
  VisitStmt(scope.body_);
  api->closeScope();
  for (auto each = now.held.begin(); each != now.held.end();) {
    const Values &values = each->second;
    bool isOfScope = !before.count(each->first) && llvm::any_of(values, [](const Named &value) {
      return !value.isTensor && (value.elements || value.dtype == pypto::DataType::TASK_ID);
    });
    each = isOfScope ? now.held.erase(each) : std::next(each);
  }
}

} // namespace pto_mlir::pypto_frontend
