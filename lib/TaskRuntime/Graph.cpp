#include "pto_mlir/TaskRuntime/Graph.h"

#include <algorithm>
#include <queue>

namespace pto_mlir::tasks {

uint32_t Graph::addTask(std::vector<uint64_t> args, KernelId kernel, WorkerKind kind, std::string name,
                        uint32_t blocks) {
  nodes.push_back({std::move(args), kernel, kind, std::move(name), blocks, {}});
  return uint32_t(nodes.size() - 1);
}

std::string Graph::describe(uint32_t node) const {
  return std::to_string(node) + (nodes[node].name.empty() ? "" : " ('" + nodes[node].name + "')");
}

Status Graph::addSuccessor(uint32_t from, uint32_t to) {
  for (uint32_t node : {from, to})
    if (node >= nodes.size())
      return Failure{"there is no task " + std::to_string(node) + ", the graph has " + std::to_string(nodes.size())};
  if (from == to)
    return Failure{"task " + describe(from) + " cannot wait for itself"};
  std::vector<uint32_t> &successors = nodes[from].successors;
  if (std::find(successors.begin(), successors.end(), to) == successors.end())
    successors.push_back(to);
  return {};
}

Result<std::vector<uint32_t>> Graph::order() const {
  std::vector<uint32_t> waiting(nodes.size()), result;
  for (const Node &node : nodes)
    for (uint32_t successor : node.successors)
      ++waiting[successor];
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0)
      ready.push(i);
  while (!ready.empty()) {
    uint32_t node = ready.top();
    ready.pop();
    result.push_back(node);
    for (uint32_t successor : nodes[node].successors)
      if (--waiting[successor] == 0)
        ready.push(successor);
  }
  if (result.size() == nodes.size())
    return result;
  // Every remaining task has a remaining predecessor, so following predecessors reaches some task twice: a cycle.
  std::vector<uint32_t> before(nodes.size());
  uint32_t node = 0;
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (uint32_t successor : nodes[i].successors)
      if (waiting[i] && waiting[successor])
        before[successor] = node = i;
  std::vector<bool> seen(nodes.size());
  for (; !seen[node]; node = before[node])
    seen[node] = true;
  std::vector<uint32_t> cycle = {node};
  for (uint32_t i = before[node]; i != node; i = before[i])
    cycle.push_back(i);
  std::string text = "the graph has a cycle: " + describe(node);
  for (size_t i = cycle.size(); i-- > 1;)
    text += " -> " + describe(cycle[i]);
  return Failure{text + " -> " + describe(node)};
}

Status Graph::run(TaskRuntime &runtime) const {
  auto sorted = order();
  if (!sorted)
    return sorted.failure();
  std::vector<std::vector<uint32_t>> producers(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (uint32_t successor : nodes[i].successors)
      producers[successor].push_back(i);
  if (Status status = runtime.begin(); !status)
    return status;
  std::vector<TaskId> ids(nodes.size());
  for (uint32_t i : *sorted) {
    const Node &node = nodes[i];
    TaskSpec spec(node.kernel, node.kind);
    for (uint64_t word : node.args)
      spec.scalar(word);
    for (uint32_t producer : producers[i])
      spec.after(ids[producer]);
    spec.blocks(node.blocks);
    if (!node.name.empty())
      spec.called(node.name.c_str());
    auto id = runtime.submit(spec);
    if (!id)
      break; // `finish` reports the reason
    ids[i] = *id;
  }
  return runtime.finish();
}

std::string Graph::print() const {
  std::string out;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Node &node = nodes[i];
    out += "task " + describe(i) + " kernel " + std::to_string(node.kernel) + " on " +
           std::string(workerKindName(node.kind)) + " args [";
    for (size_t k = 0; k < node.args.size(); ++k)
      out += (k ? ", " : "") + std::to_string(node.args[k]);
    out += "] ->";
    for (uint32_t successor : node.successors)
      out += " " + std::to_string(successor);
    out += "\n";
  }
  return out;
}

} // namespace pto_mlir::tasks
