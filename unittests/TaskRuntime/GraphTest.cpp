// Prebuilt graphs; traces and profiles; the C API.
#include "pto_mlir/TaskRuntime/Graph.h"
#include "Harness.h"

#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

extern "C" int pto_test_c_api(const char *trace);

namespace pto_mlir::tasks {
namespace {

using ::testing::HasSubstr;

TEST(Graph, R28_EdgesAreExactlyTheOnesThatWereAdded) {
  for (Mode mode : {Mode::Threads, Mode::VirtualTime}) {
    Config config = smallConfig();
    config.mode = mode;
    config.window = {2, 2, 2, 2};
    auto runtime = make(config);
    std::mutex mutex;
    std::vector<uint64_t> order;
    KernelId note = add(*runtime, "note", [&](KernelCall &call) {
      std::lock_guard lock(mutex);
      order.push_back(call.args[0]);
    });
    Graph graph;
    for (uint64_t i = 0; i < 6; ++i)
      EXPECT_EQ(graph.addTask({i}, note, i % 2 ? WorkerKind::Cube : WorkerKind::Vector, "t" + std::to_string(i)), i);
    // 5 -> 4 -> .. -> 0, against the order of submission.
    for (uint32_t i = 5; i > 0; --i) {
      EXPECT_OK(graph.addSuccessor(i, i - 1));
      EXPECT_OK(graph.addSuccessor(i, i - 1)); // a duplicate edge counts once
    }
    for (int round = 0; round < 3; ++round) {
      order.clear();
      EXPECT_OK(graph.run(*runtime));
      EXPECT_EQ(order, (std::vector<uint64_t>{5, 4, 3, 2, 1, 0}));
    }
    EXPECT_THAT(graph.print(), HasSubstr("task 4 ('t4') kernel 0 on VECTOR args [4] -> 3\n"));
  }
}

TEST(Graph, R28_CyclesAndBadEdgesAreNamed) {
  Graph graph;
  for (const char *name : {"load", "scale", "store", "after"})
    graph.addTask({}, 0, WorkerKind::Vector, name);
  EXPECT_FALSE(graph.addSuccessor(0, 0));
  Status bad = graph.addSuccessor(0, 9);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), "there is no task 9, the graph has 4");
  EXPECT_OK(graph.addSuccessor(0, 1));
  EXPECT_OK(graph.addSuccessor(1, 2));
  EXPECT_OK(graph.addSuccessor(2, 0));
  EXPECT_OK(graph.addSuccessor(2, 3)); // downstream of the cycle
  auto runtime = make(smallConfig());
  Status status = graph.run(*runtime);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error(), HasSubstr("the graph has a cycle: "));
  EXPECT_THAT(status.error(), HasSubstr("0 ('load') -> 1 ('scale')"));
  EXPECT_THAT(status.error(), ::testing::Not(HasSubstr("after")));
}

TEST(Trace, PerfettoJsonHasTracksFlowsAndCounters) {
  for (Mode mode : {Mode::Threads, Mode::VirtualTime}) {
    Config config = smallConfig();
    config.mode = mode;
    config.trace = true;
    auto runtime = make(config);
    KernelId work = add(*runtime, "ma\"tmul", [](KernelCall &) {}, 5000);
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      TaskId a = submit(run, TaskSpec(work, WorkerKind::Cube));
      submit(run, TaskSpec(work).after(a).blocks(3));
      submit(run, TaskSpec::barrier().after(a));
    }));
    auto path = std::filesystem::temp_directory_path() / ("pto_trace_" + std::to_string(int(mode)) + ".json");
    EXPECT_OK(runtime->trace().writeJson(path.string()));
    std::ifstream file(path);
    auto json = nlohmann::json::parse(file);
    std::filesystem::remove(path);
    std::set<std::string> tracks;
    std::map<std::string, int> phases;
    int spans = 0;
    for (auto &event : json["traceEvents"]) {
      ++phases[event["ph"].get<std::string>()];
      if (event["ph"] == "M" && event["name"] == "thread_name")
        tracks.insert(event["args"]["name"].get<std::string>());
      spans += event["ph"] == "X" && event["name"] == "ma\"tmul";
    }
    EXPECT_EQ(tracks, (std::set<std::string>{"orchestrator", "scheduler 0", "CUBE 0", "VECTOR 0", "VECTOR 1",
                                             "AI_CPU 0", "ACCELERATOR 0"}));
    EXPECT_EQ(spans, 4); // one and three blocks
    EXPECT_EQ(phases["s"], 2);
    EXPECT_EQ(phases["f"], 2);
    EXPECT_GT(phases["C"], 0);
  }
}

// Names are the caller's: any bytes.
TEST(Trace, JsonOfNamesWithQuotesControlCharactersAndUtf8) {
  Config config = smallConfig();
  config.mode = Mode::VirtualTime;
  config.trace = true;
  auto runtime = make(config);
  KernelId work = add(*runtime, "a \"b\" \\ \n\x01 \u03bb \xff", [](KernelCall &) {}, 1000);
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(work)); }));
  auto json = nlohmann::json::parse(runtime->trace().toJson());
  std::set<std::string> spans;
  for (auto &event : json["traceEvents"])
    if (event["ph"] == "X")
      spans.insert(event["name"].get<std::string>());
  // The byte that is no UTF-8 has become U+FFFD.
  EXPECT_EQ(spans.count("a \"b\" \\ \n\x01 \u03bb \ufffd"), 1u);
}

TEST(Trace, SummaryOfAKnownScheduleInVirtualTime) {
  Config config = smallConfig();
  config.mode = Mode::VirtualTime;
  config.trace = true;
  config.cores = {1, 2, 0, 0};
  auto runtime = make(config);
  KernelId large = add(
               *runtime, "large", [](KernelCall &) {}, 3000),
           little = add(*runtime, "little", [](KernelCall &) {}, 1000);
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    // CUBE: one task of 3 us. VECTOR: three of 1 us on two cores, then one after the CUBE task.
    TaskId a = submit(run, TaskSpec(large, WorkerKind::Cube));
    for (int i = 0; i < 3; ++i)
      submit(run, TaskSpec(little).called("an own name")); // accounted to its kernel
    submit(run, TaskSpec(little).after(a));
  }));
  Trace::Summary summary = runtime->trace().summarize();
  EXPECT_EQ(summary.makespan, 4000u);
  EXPECT_EQ(summary.criticalPath, 4000u);
  EXPECT_EQ(summary.criticalTasks, (std::vector<std::string>{"large", "little"}));
  EXPECT_DOUBLE_EQ(summary.busy[0], 0.75);
  EXPECT_DOUBLE_EQ(summary.busy[1], 0.5);
  EXPECT_DOUBLE_EQ(summary.idleWithReady[1], 0.0);
  ASSERT_EQ(summary.kernels.size(), 2u);
  EXPECT_EQ(summary.kernels[0].kernel, "little");
  EXPECT_EQ(summary.kernels[0].calls, 4u);
  EXPECT_EQ(summary.kernels[0].total, 4000u);
  EXPECT_THAT(runtime->trace().report(),
              HasSubstr("makespan 0.004 ms, critical path 0.004 ms (100.0 %) through 2 tasks\n"
                        "longest on it: large 3.000 us, little 1.000 us\n"));
}

TEST(CApi, WorksFromC) {
  auto path = std::filesystem::temp_directory_path() / "pto_trace_c.json";
  EXPECT_EQ(pto_test_c_api(path.c_str()), 0) << "line of CApiTest.c";
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
}

} // namespace
} // namespace pto_mlir::tasks
