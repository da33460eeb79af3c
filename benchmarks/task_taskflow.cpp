// The same measurements on Taskflow, if its headers are found: tasks submitted one by one, each dependent on earlier
// ones.
#include <benchmark/benchmark.h>
#include <taskflow/taskflow.hpp>

#include <array>

namespace {

void Taskflow(benchmark::State &state) {
  enum { Independent, Chain, Wave };
  constexpr int count = 60000;
  tf::Executor executor(2);
  for (auto _ : state) {
    std::array<tf::AsyncTask, 64> waves[2];
    tf::AsyncTask last;
    for (int i = 0; i < count; ++i) {
      auto nothing = [] {};
      int wave = i / 64, lane = i % 64;
      auto &before = waves[(wave + 1) % 2];
      if (state.range(0) == Chain && i)
        last = executor.silent_dependent_async(nothing, last);
      else if (state.range(0) == Wave && wave)
        waves[wave % 2][size_t(lane)] =
            executor.silent_dependent_async(nothing, before[size_t(lane)], before[size_t((lane + 1) % 64)]);
      else
        last = waves[wave % 2][size_t(lane)] = executor.silent_dependent_async(nothing);
    }
    executor.wait_for_all();
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(Taskflow)
    ->ArgName("independent0_chain1_wave2")
    ->DenseRange(0, 2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace
