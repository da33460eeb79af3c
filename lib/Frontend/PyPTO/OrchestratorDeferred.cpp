// Waits for signals that hold up only what depends on them: a device makes its launches in order, so they come last.
#include "Orchestrator.h"

#include "llvm/ADT/STLExtras.h"
#include <set>

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;

void Orchestrator::noteDeps(const ir::Attrs &attrs, size_t first) {
  if (first == launches.size())
    return;
  std::vector<uint32_t> deps;
  if (const auto *given = ir::FindAttr<std::vector<ir::ExprPtr>>(attrs, "manual_dep_edges"); given && !host) {
    std::vector<ir::ExprPtr> known;
    llvm::copy_if(*given, std::back_inserter(known), [&](const ir::ExprPtr &dep) {
      auto var = ir::As<ir::Var>(dep);
      return !var || held.count(var.get());
    });
    deps = newTask(known).numbers;
  }
  const auto *var = ir::FindAttr<ir::ExprPtr>(attrs, "task_id_var");
  for (size_t i = first; i < launches.size(); ++i) {
    llvm::append_range(launches[i].deps, deps);
    if (!launches[i].defers || !var)
      continue;
    Task made{0, {++numTasks}};
    for (uint32_t number : launches[i].deps)
      allEdges.insert(allEdges.end(), {number, numTasks});
    launches[i].deps.push_back(numTasks);
    held[ir::As<ir::Var>(*var).get()] = made;
  }
}

/// Whether the tasks that a launch waits for, or their own, wait for that of an earlier one.
bool Orchestrator::isBehind(const Launch &launch, const Launch &earlier) const {
  std::vector<uint32_t> open = launch.deps;
  std::set<uint32_t> seen(open.begin(), open.end());
  while (!open.empty()) {
    uint32_t number = open.back();
    open.pop_back();
    if (!earlier.deps.empty() && number == earlier.deps.back())
      return true;
    for (size_t i = 0; i < allEdges.size(); i += 2)
      if (allEdges[i + 1] == number && seen.insert(allEdges[i]).second)
        open.push_back(allEdges[i]);
  }
  return false;
}

bool Orchestrator::sharesMemory(const Launch &launch, const Launch &earlier) const {
  auto isWritten = [](const Launch &of, size_t pointer) {
    const std::vector<ir::VarPtr> &params = of.kernel->function->params_;
    return llvm::any_of(of.kernel->tensors, [&](const PlannedTensor &tensor) {
      size_t param = size_t(llvm::find(params, tensor.var) - params.begin());
      return tensor.pointer == pointer && writes(of.kernel->function->param_directions_[param]);
    });
  };
  for (const auto &[i, mine] : llvm::enumerate(launch.pointers))
    for (const auto &[j, other] : llvm::enumerate(earlier.pointers)) {
      bool overlaps = mine.buffer == other.buffer && !buffers[mine.buffer].pitch &&
                      mine.offset < other.offset + other.shape[0].known &&
                      other.offset < mine.offset + mine.shape[0].known;
      if (overlaps && (isWritten(launch, i) || isWritten(earlier, j)))
        return true;
    }
  return false;
}

void Orchestrator::deferWaits() {
  if (llvm::none_of(launches, [](const Launch &launch) { return launch.defers; }))
    return;
  std::map<int64_t, std::vector<size_t>> places; // by device
  for (const auto &[i, launch] : llvm::enumerate(launches))
    places[launch.rank].push_back(i);
  std::vector<Launch> moved = launches;
  for (const auto &[device, mine] : places) {
    std::vector<size_t> left = mine;
    // Nothing that is left, and came before, has to end before it.
    auto isReady = [&](size_t at) {
      const Launch &launch = launches[left[at]];
      return llvm::none_of(llvm::ArrayRef(left).take_front(at), [&](size_t other) {
        return isBehind(launch, launches[other]) || sharesMemory(launch, launches[other]);
      });
    };
    for (size_t place : mine) {
      size_t chosen = 0;
      while (chosen < left.size() && (launches[left[chosen]].defers || !isReady(chosen)))
        ++chosen;
      if (chosen == left.size())
        chosen = 0; // the first wait, for which all others wait
      moved[place] = launches[left[chosen]];
      left.erase(left.begin() + ptrdiff_t(chosen));
    }
  }
  launches = std::move(moved);
}

} // namespace pto_mlir::pypto_frontend
