// A task graph that is built first and executed later, any number of times.
#ifndef PTO_MLIR_TASKRUNTIME_GRAPH_H
#define PTO_MLIR_TASKRUNTIME_GRAPH_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

namespace pto_mlir::tasks {

/// Tasks are numbered from 0 in the order in which they are added; edges may go either way as long as there is no
/// cycle. The graph runs through windows of any size.
class Graph {
public:
  /// `args` are the words that the kernel reads: addresses and scalars.
  uint32_t addTask(std::vector<uint64_t> args, KernelId kernel, WorkerKind kind, std::string name = {},
                   uint32_t blocks = 1);
  /// Exactly the edge from -> to.
  Status addSuccessor(uint32_t from, uint32_t to);
  size_t size() const { return nodes.size(); }

  /// The tasks in an order that the edges allow, lowest number first; the failure names a cycle.
  Result<std::vector<uint32_t>> order() const;
  /// A whole run.
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
