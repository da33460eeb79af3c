// Task graphs of real programs as submissions: batched GEMM, paged attention, a decoder layer. Dependencies are derived
// from tensors.
#ifndef PTO_MLIR_BENCHMARKS_TASKGRAPHS_H
#define PTO_MLIR_BENCHMARKS_TASKGRAPHS_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <functional>
#include <string>
#include <vector>

namespace pto_mlir::tasks {

/// The kernels of a graph's tasks; kNoKernel for tasks that only order others.
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
/// 16 requests with 16 pages of keys and values each: scores, softmax, weighted values, update of the running sum. 1024
/// tasks; the last task of a page depends on that of the previous page.
TaskGraph pagedAttention();
/// 64 tokens in four tiles through norm, QKV, rotary embedding, attention with 16 heads, projection, norm and the gated
/// MLP: 544 tasks.
TaskGraph decoderLayer();

} // namespace pto_mlir::tasks

#endif
