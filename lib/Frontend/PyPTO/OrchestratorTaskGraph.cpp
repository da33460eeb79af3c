// Tasks as values, and what they wait for.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

Task Orchestrator::newTask(const std::vector<ir::ExprPtr> &deps) {
  std::vector<Task> earlier;
  for (const ir::ExprPtr &dep : deps) {
    Held value = valueOf(dep);
    if (auto *known = std::get_if<Task>(&value))
      earlier.push_back(*known);
  }
  if (host)
    return {};
  Task made{0, {++numTasks}};
  auto waitFor = [&](const Task::Numbers &numbers) {
    for (uint32_t number : numbers) {
      allEdges.insert(allEdges.end(), {number, numTasks});
      if (scope) // elsewhere memory orders launches
        taskEdges.insert(taskEdges.end(), {number, numTasks});
    }
  };
  for (const Task &each : earlier) {
    waitFor(each.numbers);
    for (const Task::Numbers &numbers : each.of ? *each.of : std::vector<Task::Numbers>())
      waitFor(numbers);
  }
  return made;
}

void Orchestrator::joinTasks(std::vector<Held> &joined, const std::vector<Held> &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    auto *before = i < joined.size() ? std::get_if<Task>(&joined[i]) : nullptr;
    auto *value = std::get_if<Task>(&values[i]);
    if (!before || !value || value->elements) {
      if (i < joined.size())
        joined[i] = values[i];
      else
        joined.push_back(values[i]);
      continue;
    }
    before->numbers.insert(before->numbers.end(), value->numbers.begin(), value->numbers.end());
  }
}

/// Arrays of tasks, and tasks without work.
Held Orchestrator::taskOperation(const ir::OpView &call, const ir::Call &op) {
  std::string_view name = call.row()->name;
  if (name.starts_with("system."))
    return name != "system.task_dummy" ? Task() : newTask(op.args_.empty() ? op.args_ : call.Elements("deps"));
  if (name == "array.create") {
    int64_t extent = integerOf(call.Operand("extent"));
    if (call.Keyword<pypto::DataType>("dtype") != pypto::DataType::TASK_ID)
      fail(op.span_, "arrays of numbers are not lowered yet in an orchestrator; use a tensor");
    if (extent < 1)
      fail(op.span_, "an array needs at least one element");
    return Task{extent, {}, host ? nullptr : std::make_shared<std::vector<Task::Numbers>>(size_t(extent))};
  }
  Held array = valueOf(call.Operand("array"));
  auto *tasks = std::get_if<Task>(&array);
  if (!tasks || tasks->elements == 0)
    fail(op.span_, "an array of tasks is needed here");
  Number index = numberOf(call.Operand("index"));
  if (index.isKnown() && (index.known < 0 || index.known >= tasks->elements))
    fail(op.span_,
         "the array has no element " + std::to_string(index.known) + "; it has " + std::to_string(tasks->elements));
  if (!index.isKnown()) {
    host->check(ir::NodeKind::Ge, index.value, host->constant(int64_t(0)), "an index of an array is negative");
    host->check(ir::NodeKind::Lt, index.value, host->constant(tasks->elements), "an index behind the end of an array");
  }
  if (name == "array.get_element")
    return host ? Task() : Task{0, (*tasks->of)[size_t(index.known)]};
  Held value = valueOf(call.Operand("value"));
  auto *task = std::get_if<Task>(&value);
  if (!task || task->elements)
    fail(op.span_, "a task is needed here");
  if (!host)
    (*tasks->of)[size_t(index.known)] = task->numbers;
  return array;
}

} // namespace pto_mlir::pypto_frontend
