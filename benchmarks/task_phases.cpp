// The phases of a task's overhead, and throughput and makespan of whole programs: measurements of
// task_runtime_benchmark that are not a single rate.
#include "TaskBench.h"
#include "TaskGraphs.h"

#include <chrono>

using namespace pto_mlir::tasks;

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) { return std::chrono::duration<double, std::nano>(Clock::now() - begin).count(); }

/// A driver without threads: the benchmark resolves the submitted tasks itself.
struct NoDriver : Driver {
  uint64_t now() override { return 0; }
  void beginRun() override {}
  void kick() override {}
  Stall waitUntil(const std::function<bool()> &done) override {
    return done() ? Stall{} : Stall{ErrorCode::NoProgress, "the window is too small for the benchmark"};
  }
  std::vector<HandshakeRecord> handshake() override { return {}; }
};

/// One thread submits 8192 tasks, then pops ready tasks from the queue and completes them; ns per task of each phase.
void Phases(benchmark::State &state) {
  enum { Independent, Chain, Wave, Tiles };
  constexpr int count = 8192;
  Config config;
  config.cores = {0, 1, 0, 0};
  std::vector<Kernel> kernels = {{"work", [](KernelCall &) {}, 1}};
  std::vector<char> memory(64 * 4096);
  std::vector<Tensor> tiles;
  tiles.reserve(64);
  for (int i = 0; i < 64; ++i)
    tiles.push_back(Tensor::dense(&memory[size_t(i) * 4096], 4, {32, 32}));
  double submitting = 0, dispatching = 0, completing = 0;
  NoDriver driver;
  TaskCore core(config, kernels);
  core.setDriver(&driver);
  core.beginRun();
  for (auto _ : state) {
    TaskId ids[2][64], last;
    auto begin = Clock::now();
    for (int i = 0; i < count; ++i) {
      TaskSpec spec(0);
      int wave = i / 64, lane = i % 64;
      if (state.range(0) == Chain && i)
        spec.after(last);
      if (state.range(0) == Wave && wave)
        spec.after(ids[(wave + 1) % 2][lane]).after(ids[(wave + 1) % 2][(lane + 1) % 64]);
      if (state.range(0) == Tiles)
        spec.inout(tiles[size_t(lane)]).input(tiles[size_t((i * 7 + 3) % 64)]);
      if (auto id = core.submit(spec))
        last = ids[wave % 2][lane] = *id;
      else
        state.SkipWithError(id.error().c_str());
    }
    submitting += since(begin);
    for (int done = 0; done < count;) {
      uint64_t ready[64];
      begin = Clock::now();
      size_t some = core.ready(WorkerKind::Vector).popSome(ready, 64);
      for (size_t i = 0; i < some; ++i)
        core.setRunning(core.slotOf(TaskId{ready[i]}), TaskId{ready[i]});
      dispatching += since(begin);
      begin = Clock::now();
      for (size_t i = 0; i < some; ++i)
        core.complete(core.slotOf(TaskId{ready[i]}), TaskId{ready[i]});
      completing += since(begin);
      done += int(some);
      if (some == 0)
        break;
    }
  }
  core.finishRun();
  double tasks = double(state.iterations()) * count;
  state.SetItemsProcessed(int64_t(tasks));
  state.counters["submit_ns"] = submitting / tasks;
  state.counters["dispatch_ns"] = dispatching / tasks;
  state.counters["complete_ns"] = completing / tasks;
}
BENCHMARK(Phases)->ArgName("independent0_chain1_wave2_tiles3")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

/// Latency from the moment a task becomes ready to its start on an idle core while every thread spins; includes the
/// cost of tracing.
void ReadyLatency(benchmark::State &state) {
  Config config;
  config.cores = {0, 1, 0, 0};
  config.schedulers = 1;
  config.spins = 1u << 30;
  config.trace = true;
  auto runtime = makeRuntime(config);
  auto kernel = runtime->registerKernel("empty", [](KernelCall &) {});
  std::vector<uint64_t> gaps;
  for (auto _ : state) {
    if (auto status = runtime->run([&](TaskRuntime &run) { submitChain(run, *kernel, 20000); }); !status)
      state.SkipWithError(status.error().c_str());
    for (const BlockRecord &block : runtime->trace().blocks)
      gaps.push_back(block.start - block.ready);
  }
  static std::vector<uint64_t> all;
  countLatencies(state, gaps, all);
}
BENCHMARK(ReadyLatency)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

TaskGraph graphNumber(int64_t number) {
  return number == 0 ? batchedGemm() : number == 1 ? pagedAttention() : decoderLayer();
}

/// Throughput of a program's tasks when kernels cost nothing.
void GraphThroughput(benchmark::State &state) {
  TaskGraph graph = graphNumber(state.range(0));
  Config config;
  config.cores = {1, 1, 0, 0};
  config.schedulers = 1;
  auto runtime = makeRuntime(config);
  constexpr int rounds = 50; // repetitions of the program in one run
  for (auto _ : state)
    if (auto status = runtime->run([&](TaskRuntime &run) {
          for (int i = 0; i < rounds; ++i)
            graph.submit(run, {});
        });
        !status)
      state.SkipWithError(status.error().c_str());
  state.SetItemsProcessed(state.iterations() * rounds * graph.tasks);
  state.SetLabel(graph.name);
}
BENCHMARK(GraphThroughput)->ArgName("graph")->DenseRange(0, 2)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Makespan in virtual time on 24 cube and 48 vector cores: products of 10 us, vector kernels of 5 us, the argument is
/// the cost of a submission in ns.
void GraphMakespan(benchmark::State &state) {
  TaskGraph graph = graphNumber(state.range(0));
  Config config;
  config.cores = {24, 48, 0, 0};
  config.mode = Mode::VirtualTime;
  config.submitCostNs = uint64_t(state.range(1));
  config.trace = true;
  auto runtime = makeRuntime(config);
  GraphKernels kernels{*runtime->registerKernel(
                           "matmul", [](KernelCall &) {}, 10000),
                       *runtime->registerKernel("vector", [](KernelCall &) {}, 5000)};
  for (auto _ : state)
    if (auto status = runtime->run([&](TaskRuntime &run) { graph.submit(run, kernels); }); !status)
      state.SkipWithError(status.error().c_str());
  if (runtime->statistics().submitted != graph.tasks)
    state.SkipWithError("the graph has another number of tasks than it says");
  Trace::Summary summary = runtime->trace().summarize();
  state.counters["makespan_us"] = double(summary.makespan) / 1e3;
  state.counters["critical_us"] = double(summary.criticalPath) / 1e3;
  state.counters["cube_busy"] = summary.busy[0];
  state.counters["cube_idle_ready"] = summary.idleWithReady[0];
  state.counters["vector_idle_ready"] = summary.idleWithReady[1];
  state.SetLabel(graph.name);
}
BENCHMARK(GraphMakespan)
    ->ArgNames({"graph", "submit_ns"})
    ->ArgsProduct({{0, 1, 2}, {0, 300, 874}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace
