// A task graph that is built once and executed any number of times.
#ifndef PTO_MLIR_TASKRUNTIME_GRAPH_H
#define PTO_MLIR_TASKRUNTIME_GRAPH_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

namespace pto_mlir::tasks {

/// Tasks are numbered from 0 in the order in which they are added. Edges may point to lower numbers; cycles are an
/// error. The graph may be larger than the task window.
class Graph {
public:
  /// Adds a task and returns its number. `args` are the kernel's arguments: addresses and scalars.
  uint32_t addTask(std::vector<uint64_t> args, KernelId kernel, WorkerKind kind, std::string name = {},
                   uint32_t blocks = 1);
  /// Adds the edge `from` -> `to`; no dependencies are inferred.
  Status addSuccessor(uint32_t from, uint32_t to);
  size_t size() const { return nodes.size(); }

  /// A topological order of the tasks, lowest number first; a failure names a cycle.
  Result<std::vector<uint32_t>> order() const;
  /// Executes the graph as one run of `runtime`.
  Status run(TaskRuntime &runtime) const;
  /// One line per task: number, name, kind, arguments, successors.
  std::string print() const;

private:
  struct Node {
    std::vector<uint64_t> args;
    KernelId kernel;
    WorkerKind kind;
    std::string name;
    uint32_t blocks;
    std::vector<uint32_t> successors;
  };
  std::string describe(uint32_t node) const;
  std::vector<Node> nodes;
};

} // namespace pto_mlir::tasks

#endif
