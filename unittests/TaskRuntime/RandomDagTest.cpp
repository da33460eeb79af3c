// Random task graphs, compared with a sequential execution in submission order and with oneTBB's flow graph.
#include "Harness.h"

#include <map>
#include <random>
#if PTO_HAVE_TBB
#include <tbb/flow_graph.h>
#endif
#include <thread>

namespace pto_mlir::tasks {
namespace {

/// A step of a program over `cells` of 8 bytes: a task mixes the cells that it reads into those that it writes.
struct Step {
  enum Kind { Task, ScopeBegin, ScopeEnd } kind = Task;
  std::vector<int> reads, writes; ///< first cells of ranges
  std::vector<int> readCounts, writeCounts;
  std::vector<int> after; ///< earlier steps
  int heapFrom = -1;      ///< reads the heap output of an earlier step of the open scopes
  bool allocates = false;
  bool barrier = false;
  WorkerKind worker = WorkerKind::Vector;
  uint32_t blocks = 1;
  bool gang = false;
  uint64_t cost = 1;
};

struct Program {
  int cells = 16;
  std::vector<Step> steps;
};

Program randomProgram(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](int n) { return int(random() % uint64_t(n)); };
  Program program;
  program.cells = 4 + pick(28);
  int count = 20 + pick(120), width = 1 + pick(4);
  std::vector<std::vector<int>> open(1); // heap outputs per scope
  std::vector<int> tasks;
  for (int i = 0; i < count; ++i) {
    Step step;
    int what = pick(12);
    if (what == 0 && open.size() < 6) {
      step.kind = Step::ScopeBegin;
      open.emplace_back();
    } else if (what == 1 && open.size() > 1) {
      step.kind = Step::ScopeEnd;
      open.pop_back();
    } else {
      step.worker = WorkerKind(pick(3));
      step.cost = 1 + uint64_t(pick(2000));
      step.barrier = pick(10) == 0;
      auto range = [&](std::vector<int> &firsts, std::vector<int> &counts, int n) {
        for (int k = 0; k < n; ++k) {
          counts.push_back(1 + pick(3));
          firsts.push_back(pick(program.cells - 3));
        }
      };
      if (!step.barrier) {
        range(step.reads, step.readCounts, pick(width + 1));
        range(step.writes, step.writeCounts, pick(3));
        if (pick(8) == 0) {
          step.blocks = 1 + uint32_t(pick(5));
          step.gang = step.worker == WorkerKind::Vector && step.blocks <= 3 && pick(2);
        }
      }
      for (int k = pick(3); k > 0 && !tasks.empty(); --k)
        step.after.push_back(tasks[size_t(pick(int(tasks.size())))]);
      auto &scope = open[size_t(pick(int(open.size())))];
      if (!step.barrier && !scope.empty() && pick(2))
        step.heapFrom = scope[size_t(pick(int(scope.size())))];
      step.allocates = !step.barrier && open.size() > 1 && pick(3) == 0 && open.back().size() < 4;
      if (step.allocates)
        open.back().push_back(i);
      tasks.push_back(i);
    }
    program.steps.push_back(step);
  }
  return program;
}

/// The effect of a step: a multiplicative mix. Only block 0 of a task works, since word 0 of each range holds the sum.
uint64_t mix(uint64_t value, uint64_t more) { return (value ^ more) * 0x9e3779b97f4a7c15ull + (more >> 7); }

/// `heap`: per step, the value in the heap output that it allocated.
void runStep(const Step &step, int index, std::vector<uint64_t> &cells, std::vector<uint64_t> &heap) {
  uint64_t value = uint64_t(index);
  for (size_t r = 0; r < step.reads.size(); ++r)
    for (int k = 0; k < step.readCounts[r]; ++k)
      value = mix(value, cells[size_t(step.reads[r] + k)]);
  if (step.heapFrom >= 0)
    value = mix(value, heap[size_t(step.heapFrom)]);
  for (size_t w = 0; w < step.writes.size(); ++w)
    for (int k = 0; k < step.writeCounts[w]; ++k)
      cells[size_t(step.writes[w] + k)] = mix(value, uint64_t(k));
  if (step.allocates)
    heap[size_t(index)] = value;
}

std::vector<uint64_t> runPlainly(const Program &program) {
  std::vector<uint64_t> cells(size_t(program.cells), 1), heap(program.steps.size());
  for (int i = 0; i < int(program.steps.size()); ++i)
    if (const Step &step = program.steps[size_t(i)]; step.kind == Step::Task && !step.barrier)
      runStep(step, i, cells, heap);
  return cells;
}

#if PTO_HAVE_TBB
/// The same program on oneTBB's flow graph, with an edge between steps that access the same cell, one of them writing.
std::vector<uint64_t> runOnFlowGraph(const Program &program) {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  std::vector<uint64_t> cells(size_t(program.cells), 1), heap(program.steps.size());
  auto overlap = [](const std::vector<int> &a, const std::vector<int> &counts, const std::vector<int> &b,
                    const std::vector<int> &others) {
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t k = 0; k < b.size(); ++k)
        if (a[i] < b[k] + others[k] && b[k] < a[i] + counts[i])
          return true;
    return false;
  };
  tbb::flow::graph graph;
  std::vector<std::unique_ptr<Node>> nodes(program.steps.size());
  std::vector<Node *> roots;
  for (int i = 0; i < int(program.steps.size()); ++i) {
    const Step &step = program.steps[size_t(i)];
    if (step.kind != Step::Task)
      continue;
    nodes[size_t(i)] = std::make_unique<Node>(graph, [&, i](const tbb::flow::continue_msg &) {
      if (!program.steps[size_t(i)].barrier)
        runStep(program.steps[size_t(i)], i, cells, heap);
    });
    bool root = true;
    for (int j = 0; j < i; ++j) {
      const Step &earlier = program.steps[size_t(j)];
      if (!nodes[size_t(j)] ||
          !(overlap(step.reads, step.readCounts, earlier.writes, earlier.writeCounts) ||
            overlap(step.writes, step.writeCounts, earlier.writes, earlier.writeCounts) ||
            overlap(step.writes, step.writeCounts, earlier.reads, earlier.readCounts) || step.heapFrom == j ||
            std::find(step.after.begin(), step.after.end(), j) != step.after.end()))
        continue;
      tbb::flow::make_edge(*nodes[size_t(j)], *nodes[size_t(i)]);
      root = false;
    }
    if (root)
      roots.push_back(nodes[size_t(i)].get());
  }
  for (Node *node : roots)
    node->try_put({});
  graph.wait_for_all();
  return cells;
}
#endif

struct Executor {
  const Program &program;
  TaskRuntime &runtime;
  KernelId kernel;
  std::vector<uint64_t> cells;
  std::vector<TaskId> ids;
  bool yields = false;

  Executor(const Program &program, TaskRuntime &runtime) : program(program), runtime(runtime) {
    // args: index, then addresses of reads, heap input, writes, heap output.
    kernel = add(runtime, "mix", [this](KernelCall &call) {
      const Step &step = this->program.steps[call.args[0]];
      call.costNs = step.cost;
      if (yields && step.cost % 3 == 0)
        std::this_thread::yield();
      if (call.block != 0)
        return;
      uint64_t value = call.args[0];
      uint32_t next = 1;
      for (size_t r = 0; r < step.reads.size(); ++r, ++next)
        for (int k = 0; k < step.readCounts[r]; ++k)
          value = mix(value, pointer<uint64_t>(call.args[next])[k]);
      if (step.heapFrom >= 0)
        value = mix(value, *pointer<uint64_t>(call.args[next++]));
      for (size_t w = 0; w < step.writes.size(); ++w, ++next)
        for (int k = 0; k < step.writeCounts[w]; ++k)
          pointer<uint64_t>(call.args[next])[k] = mix(value, uint64_t(k));
      if (step.allocates)
        *pointer<uint64_t>(call.args[next]) = value;
    });
  }

  Status run() {
    cells.assign(size_t(program.cells), 1);
    ids.assign(program.steps.size(), TaskId{});
    std::map<int, Tensor> heap;
    return runtime.run([&](TaskRuntime &run) {
      for (int i = 0; i < int(program.steps.size()); ++i) {
        const Step &step = program.steps[size_t(i)];
        if (step.kind == Step::ScopeBegin) {
          EXPECT_OK(run.scopeBegin());
          continue;
        }
        if (step.kind == Step::ScopeEnd) {
          EXPECT_OK(run.scopeEnd());
          continue;
        }
        TaskSpec spec = step.barrier ? TaskSpec::barrier() : TaskSpec(kernel, step.worker);
        if (!step.barrier)
          spec.scalar(uint64_t(i));
        for (size_t r = 0; r < step.reads.size(); ++r)
          spec.input(Tensor::dense(&cells[size_t(step.reads[r])], 8, {step.readCounts[r]}));
        if (step.heapFrom >= 0)
          spec.input(heap[step.heapFrom]);
        for (size_t w = 0; w < step.writes.size(); ++w) // written as halves, with another element size
          spec.output(Tensor::dense(&cells[size_t(step.writes[w])], 2, {4 * step.writeCounts[w]}));
        if (step.allocates)
          spec.allocate(8, {1});
        for (int earlier : step.after)
          spec.after(ids[size_t(earlier)]);
        spec.blocks(step.blocks, step.gang);
        auto id = run.submit(spec);
        if (!id)
          return;
        ids[size_t(i)] = *id;
        if (step.allocates)
          heap[i] = spec.outputs()[0];
      }
    });
  }

  /// Checks that the producer of every edge ended before its consumer started.
  void checkTimes() {
    struct Times {
      uint64_t start = ~uint64_t(0), end = 0;
    };
    std::map<uint64_t, Times> times;
    for (const BlockRecord &block : runtime.trace().blocks) {
      EXPECT_LE(block.ready, block.start);
      EXPECT_LE(block.dispatched, block.start);
      EXPECT_LE(block.start, block.end);
      Times &task = times[block.task.value];
      task.start = std::min(task.start, block.start);
      task.end = std::max(task.end, block.end);
    }
    for (const EdgeRecord &edge : runtime.trace().edges)
      if (edge.flags & Wait)
        EXPECT_LE(times[edge.producer.value].end, times[edge.consumer.value].start)
            << toString(edge.producer) << " -> " << toString(edge.consumer);
  }
};

Config configFor(uint64_t seed) {
  std::mt19937_64 random(seed * 77 + 1);
  auto pick = [&](uint64_t n) { return random() % n; };
  Config config;
  config.cores = {1 + uint32_t(pick(2)), 3 + uint32_t(pick(2)), 1, 0};
  // The largest scope must fit: 160 steps.
  uint32_t window = 256u << pick(3);
  config.window = {uint32_t(1) << pick(6), window, window, window};
  config.heapBytes = {1 << 14, 1 << 14, 1 << 14, 1 << 14};
  config.dependencyEntries = 32768;
  config.tensorMapEntries = 2048;
  config.schedulers = 1 + uint32_t(pick(3));
  config.workerThreads = 1 + uint32_t(pick(4));
  config.mode = pick(2) ? Mode::VirtualTime : Mode::Threads;
  config.pick = Pick(pick(3));
  config.seed = seed;
  config.trace = true;
  config.submitCostNs = pick(2) ? 0 : 200;
  config.submitterWorks = pick(3) == 0;
  return config;
}

TEST(RandomDag, T33_AgreesWithAPlainLoopAndWithOneTBB) {
  int count = fullTests() ? 10000 / kSlow : 300 / (kSlow > 1 ? 3 : 1);
  std::unique_ptr<TaskRuntime> runtime;
  for (int seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE(seed);
    Program program = randomProgram(uint64_t(seed));
    // Each runtime serves a few graphs: on a loaded machine starting threads takes longer than a graph.
    if (seed % 4 == 1)
      runtime = make(configFor(uint64_t(seed)));
    Executor executor(program, *runtime);
    executor.yields = seed % 8 == 0;
    EXPECT_OK(executor.run());
    ASSERT_EQ(executor.cells, runPlainly(program));
#if PTO_HAVE_TBB
    ASSERT_EQ(executor.cells, runOnFlowGraph(program));
#endif
    executor.checkTimes();
    if (::testing::Test::HasFailure())
      return;
  }
}

TEST(RandomDag, T33_VirtualTimeIsTheSameInEveryRun) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Program program = randomProgram(seed);
    Config config = configFor(seed);
    config.mode = Mode::VirtualTime;
    std::string first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto runtime = make(config);
      Executor executor(program, *runtime);
      EXPECT_OK(executor.run());
      std::string trace = runtime->trace().toJson();
      if (repeat == 0)
        first = trace;
      else
        ASSERT_EQ(first, trace) << seed;
    }
  }
}

} // namespace
} // namespace pto_mlir::tasks
