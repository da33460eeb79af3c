// Overhead per task of the task runtime, compared with oneTBB's flow graph. benchmarks/task_runtime.py prints the
// results as one table.
//
//   build/benchmarks/task_runtime_benchmark [--benchmark_filter=..]
//
// `items_per_second` is tasks per second. Tasks without a kernel are completed by the scheduler thread; those of
// `Granularity` and `Latency` run on cores.
#include "TaskBench.h"

#include <algorithm>
#include <chrono>
#include <tbb/flow_graph.h>

using namespace pto_mlir::tasks;

namespace {

/// Tasks per run: several windows, yet short enough that some runs are undisturbed on a busy machine.
constexpr int kTasks = 60000;

Config benchConfig(uint32_t window = 16384) {
  Config config;
  config.cores = {0, 1, 0, 0};
  config.schedulers = 1;
  config.window = {window, window, window, window};
  return config;
}

/// Runs `program(run, i)` for each of kTasks tasks, with a scope per `scope` tasks. The first run, which faults in the
/// pages of the rings, is not measured.
template <class Program> void bench(benchmark::State &state, const Config &config, int scope, Program &&program) {
  auto runtime = makeRuntime(config);
  uint64_t blocked = 0;
  auto once = [&] {
    auto status = runtime->run([&](TaskRuntime &run) {
      for (int i = 0; i < kTasks; ++i) {
        if (i % scope == 0) {
          if (i)
            (void)run.scopeEnd();
          (void)run.scopeBegin();
        }
        program(run, i);
      }
      (void)run.scopeEnd();
    });
    if (!status)
      state.SkipWithError(status.error().c_str());
  };
  once();
  for (auto _ : state) {
    once();
    blocked += runtime->statistics().blockedNs;
  }
  state.SetItemsProcessed(state.iterations() * kTasks);
  state.counters["blocked_ms"] = double(blocked) / 1e6 / double(state.iterations());
}

int scopeFor(uint32_t window) { return int(std::min<uint32_t>(2048, std::max<uint32_t>(1, window / 4))); }

void Independent(benchmark::State &state) {
  uint32_t window = uint32_t(state.range(0));
  TaskSpec spec = TaskSpec::barrier();
  bench(state, benchConfig(window), scopeFor(window), [&](TaskRuntime &run, int) { (void)run.submit(spec); });
}
BENCHMARK(Independent)
    ->Arg(65536)
    ->Arg(16384)
    ->Arg(1024)
    ->Arg(64)
    ->Arg(16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void Chain(benchmark::State &state) {
  uint32_t window = uint32_t(state.range(0));
  TaskSpec spec = TaskSpec::barrier();
  TaskId last;
  bench(state, benchConfig(window), scopeFor(window), [&](TaskRuntime &run, int i) {
    spec.clear();
    if (i)
      spec.after(last);
    if (auto id = run.submit(spec))
      last = *id;
  });
}
BENCHMARK(Chain)->Arg(16384)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Waves of 64 tasks, each with two producers in the previous wave.
void Wave(benchmark::State &state) {
  TaskSpec spec = TaskSpec::barrier();
  TaskId ids[2][64];
  bench(state, benchConfig(), 2048, [&](TaskRuntime &run, int i) {
    spec.clear();
    int wave = i / 64, lane = i % 64;
    if (wave)
      spec.after(ids[(wave + 1) % 2][lane]).after(ids[(wave + 1) % 2][(lane + 1) % 64]);
    if (auto id = run.submit(spec))
      ids[wave % 2][lane] = *id;
  });
}
BENCHMARK(Wave)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Layers of 64 tasks, each dependent on all 64 of the previous layer.
void Bipartite(benchmark::State &state) {
  TaskSpec spec = TaskSpec::barrier();
  TaskId ids[2][64];
  Config config = benchConfig();
  config.dependencyEntries = 1 << 21;
  bench(state, config, 2048, [&](TaskRuntime &run, int i) {
    spec.clear();
    int layer = i / 64;
    if (layer % 2)
      for (TaskId id : ids[(layer + 1) % 2])
        spec.after(id);
    if (auto id = run.submit(spec))
      ids[layer % 2][i % 64] = *id;
  });
}
BENCHMARK(Bipartite)->UseRealTime()->Unit(benchmark::kMillisecond);

/// 1 -> 50 -> 1.
void FanOut(benchmark::State &state) {
  TaskSpec spec = TaskSpec::barrier();
  TaskId source, middle[50];
  bench(state, benchConfig(), 2048, [&](TaskRuntime &run, int i) {
    spec.clear();
    int place = i % 52;
    if (place == 51)
      for (TaskId id : middle)
        spec.after(id);
    else if (place)
      spec.after(source);
    if (auto id = run.submit(spec))
      (place == 0 ? source : middle[std::min(place - 1, 49)]) = *id;
  });
}
BENCHMARK(FanOut)->UseRealTime()->Unit(benchmark::kMillisecond);

/// 64 tiles: each task updates one and reads another, with dependencies found by the tensor map.
void TensorMapTiles(benchmark::State &state) {
  std::vector<char> memory(64 * 4096);
  std::vector<Tensor> tiles;
  tiles.reserve(64);
  for (int i = 0; i < 64; ++i)
    tiles.push_back(Tensor::dense(&memory[size_t(i) * 4096], 4, {32, 32}));
  TaskSpec spec = TaskSpec::barrier();
  bench(state, benchConfig(), 2048, [&](TaskRuntime &run, int i) {
    spec.clear();
    spec.inout(tiles[size_t(i % 64)]).input(tiles[size_t((i * 7 + 3) % 64)]);
    (void)run.submit(spec);
  });
}
BENCHMARK(TensorMapTiles)->UseRealTime()->Unit(benchmark::kMillisecond);

void ScopeSize(benchmark::State &state) {
  TaskSpec spec = TaskSpec::barrier();
  bench(state, benchConfig(), int(state.range(0)), [&](TaskRuntime &run, int) { (void)run.submit(spec); });
}
BENCHMARK(ScopeSize)->Arg(1)->Arg(4)->Arg(64)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);

void HeapSize(benchmark::State &state) {
  Config config = benchConfig();
  config.heapBytes.fill(uint64_t(state.range(0)));
  TaskSpec spec = TaskSpec::barrier();
  bench(state, config, 16, [&](TaskRuntime &run, int) {
    spec.clear();
    (void)run.submit(spec.allocate(1, {1024}));
  });
}
BENCHMARK(HeapSize)->Arg(32 << 10)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime()->Unit(benchmark::kMillisecond);

uint64_t nowNs() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

/// Each iteration is one run that submits `spec` `count` times.
void submitMany(benchmark::State &state, TaskRuntime &runtime, TaskSpec spec, int count) {
  for (auto _ : state) {
    auto status = runtime.run([&](TaskRuntime &run) {
      for (int i = 0; i < count; ++i)
        (void)run.submit(spec);
    });
    if (!status)
      state.SkipWithError(status.error().c_str());
  }
  state.SetItemsProcessed(state.iterations() * count);
}

/// Kernels of a given length on one core: the fraction of time that the core computes.
void Granularity(benchmark::State &state) {
  uint64_t ns = uint64_t(state.range(0));
  auto runtime = makeRuntime(benchConfig());
  auto kernel = runtime->registerKernel("spin", [ns](KernelCall &) {
    for (uint64_t end = nowNs() + ns; nowNs() < end;)
      ;
  });
  TaskSpec spec(*kernel);
  int count = int(std::clamp<uint64_t>(20000000 / (ns + 1000), 20, 5000));
  submitMany(state, *runtime, spec, count);
  state.counters["efficiency"] =
      benchmark::Counter(double(state.iterations()) * count * double(ns) * 1e-9, benchmark::Counter::kIsRate);
}
BENCHMARK(Granularity)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Arg(3000)
    ->Arg(10000)
    ->Arg(30000)
    ->Arg(100000)
    ->Arg(1000000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// Latency from the end of a producer to the start of its consumer on one core, while every thread spins.
void Latency(benchmark::State &state) {
  Config config = benchConfig();
  config.spins = 1u << 30;
  auto runtime = makeRuntime(config);
  constexpr int count = 20000;
  std::vector<uint64_t> starts(count), ends(count), gaps;
  auto kernel = runtime->registerKernel("stamp", [&](KernelCall &call) {
    starts[call.args[0]] = nowNs();
    ends[call.args[0]] = nowNs();
  });
  for (auto _ : state) {
    if (auto status = runtime->run([&](TaskRuntime &run) { submitChain(run, *kernel, count); }); !status)
      state.SkipWithError(status.error().c_str());
    for (int i = 1; i < count; ++i)
      gaps.push_back(starts[size_t(i)] - ends[size_t(i - 1)]);
  }
  static std::vector<uint64_t> all;
  countLatencies(state, gaps, all);
}
BENCHMARK(Latency)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

/// More cores than processors: each core runs on one of the worker threads.
void WorkerCount(benchmark::State &state) {
  Config config = benchConfig();
  config.cores = {0, uint32_t(state.range(0)), 0, 0};
  auto runtime = makeRuntime(config);
  auto kernel = runtime->registerKernel("empty", [](KernelCall &) {});
  TaskSpec spec(*kernel);
  constexpr int count = 20000;
  submitMany(state, *runtime, spec, count);
}
BENCHMARK(WorkerCount)->Arg(1)->Arg(2)->Arg(8)->Arg(24)->Arg(72)->UseRealTime()->Unit(benchmark::kMillisecond);

/// The same shapes as nodes of a flow graph; includes graph construction, as submission is included above.
void TbbFlowGraph(benchmark::State &state) {
  enum { Independent, Chain, Wave };
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  constexpr int part = 20000; // a flow graph keeps its nodes: use several graphs, like a window
  for (auto _ : state)
    for (int done = 0; done < kTasks; done += part) {
      tbb::flow::graph graph;
      std::vector<std::unique_ptr<Node>> nodes;
      nodes.reserve(part);
      for (int i = 0; i < part; ++i) {
        nodes.push_back(std::make_unique<Node>(graph, [](const tbb::flow::continue_msg &) {}));
        if (state.range(0) == Chain && i)
          tbb::flow::make_edge(*nodes[size_t(i - 1)], *nodes.back());
        if (state.range(0) == Wave && i >= 64) {
          tbb::flow::make_edge(*nodes[size_t(i - 64)], *nodes.back());
          tbb::flow::make_edge(*nodes[size_t(i / 64 * 64 - 64 + (i + 1) % 64)], *nodes.back());
        }
      }
      int roots = state.range(0) == Independent ? part : state.range(0) == Chain ? 1 : 64;
      for (int i = 0; i < roots; ++i)
        nodes[size_t(i)]->try_put(tbb::flow::continue_msg());
      graph.wait_for_all();
    }
  state.SetItemsProcessed(state.iterations() * kTasks);
}
BENCHMARK(TbbFlowGraph)
    ->ArgName("independent0_chain1_wave2")
    ->Arg(0)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
