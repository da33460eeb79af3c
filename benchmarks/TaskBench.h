// Shared helpers of the task runtime benchmarks.
#ifndef PTO_MLIR_BENCHMARKS_TASKBENCH_H
#define PTO_MLIR_BENCHMARKS_TASKBENCH_H

#include "pto_mlir/TaskRuntime/TaskRuntime.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>

namespace pto_mlir::tasks {

inline std::unique_ptr<TaskRuntime> makeRuntime(const Config &config) {
  auto runtime = TaskRuntime::create(config);
  if (!runtime) {
    std::fprintf(stderr, "%s\n", runtime.error().c_str());
    std::exit(1);
  }
  return runtime.take();
}

/// Submits `count` tasks of `kernel`, each dependent on the previous one, with its number as the argument.
inline void submitChain(TaskRuntime &run, KernelId kernel, uint64_t count) {
  TaskId last;
  for (uint64_t i = 0; i < count; ++i) {
    TaskSpec spec(kernel);
    spec.scalar(i);
    if (last)
      spec.after(last);
    if (auto id = run.submit(spec))
      last = *id;
  }
}

/// Counters p50_ns, p99_ns and max_ns of all that was measured so far: `all` is kept across repetitions and takes
/// `nanoseconds`, which must not be empty. The counters of the last repetition are those of every repetition together.
inline void countLatencies(benchmark::State &state, const std::vector<uint64_t> &nanoseconds,
                           std::vector<uint64_t> &all) {
  all.insert(all.end(), nanoseconds.begin(), nanoseconds.end());
  std::sort(all.begin(), all.end());
  state.counters["p50_ns"] = double(all[all.size() / 2]);
  state.counters["p99_ns"] = double(all[all.size() * 99 / 100]);
  state.counters["max_ns"] = double(all.back());
  state.counters["samples"] = double(all.size());
}

} // namespace pto_mlir::tasks

#endif
