// Graphs of real programs as submissions: batched GEMM, paged attention, a decoder layer. Dependencies follow from the
// tensors.
#ifndef PTO_MLIR_BENCHMARKS_TASKGRAPHS_H
#define PTO_MLIR_BENCHMARKS_TASKGRAPHS_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <functional>
#include <string>
#include <vector>

namespace pto_mlir::tasks {

/// The kernels that a graph's tasks name; kNoKernel for tasks that only order others.
struct GraphKernels {
  KernelId matmul = kNoKernel; ///< of CUBE
  KernelId vector = kNoKernel; ///< of VECTOR
};

struct TaskGraph {
  std::string name;
  unsigned tasks;
  std::function<void(TaskRuntime &, const GraphKernels &)> submit;
};

/// 250 groups of two products, each added to the group's sum: 1000 tasks in chains of two.
TaskGraph batchedGemm();
/// 16 requests with 16 pages of keys and values each: scores, softmax, weighted values, update of the running sum; 1024
/// tasks, of which the last of a page waits for that of the page before.
TaskGraph pagedAttention();
/// 64 tokens in four tiles through norm, QKV, rotation, attention of 16 heads, projection, norm and the gated MLP: 544
/// tasks.
TaskGraph decoderLayer();

} // namespace pto_mlir::tasks

#endif
