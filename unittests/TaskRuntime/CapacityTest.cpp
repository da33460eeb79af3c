// Requests that exceed a capacity, and invalid ones: reported at once, naming the configuration field or the task.
#include "Harness.h"

#include <chrono>

namespace pto_mlir::tasks {
namespace {

using ::testing::HasSubstr;

struct Capacity {
  const char *name;
  ErrorCode code;
  const char *knob;
  std::function<void(Config &)> configure;
  std::function<Status(TaskRuntime &, KernelId)> program;
};

class CapacityErrors : public ::testing::TestWithParam<std::tuple<Mode, int>> {};

std::vector<Capacity> capacityCases() {
  auto submitN = [](TaskRuntime &run, TaskSpec &spec, int count) -> Status {
    for (int i = 0; i < count; ++i)
      if (auto id = run.submit(spec); !id)
        return id.failure();
    return {};
  };
  return {
      {"EightTasksInAScopeWithAWindowOfFour", ErrorCode::ScopeDeadlock, "window[1]", [](Config &c) { c.window[1] = 4; },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         (void)run.scopeBegin();
         TaskSpec spec(kernel);
         return submitN(run, spec, 8);
       }},
      {"OutputLargerThanTheHeap", ErrorCode::HeapDeadlock, "heapBytes[1]", [](Config &c) { c.heapBytes[1] = 1024; },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         (void)run.scopeBegin();
         TaskSpec spec(kernel);
         return submitN(run, spec.allocate(1, {32 << 10}), 1);
       }},
      {"OutputsOfAScopeFillTheHeap", ErrorCode::HeapDeadlock, "heapBytes[1]", [](Config &c) { c.heapBytes[1] = 1024; },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         (void)run.scopeBegin();
         TaskSpec spec(kernel);
         return submitN(run, spec.allocate(1, {300}), 8);
       }},
      {"EightNestedScopesOfThreeTasks", ErrorCode::ScopeDeadlock, "window[3]", [](Config &c) { c.window[3] = 16; },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         for (int depth = 0; depth < 8; ++depth) {
           (void)run.scopeBegin();
           TaskSpec spec(kernel);
           if (Status status = submitN(run, spec, 3); !status)
             return status;
         }
         return {};
       }},
      {"MoreProducersThanThePoolHolds", ErrorCode::DependencyPool, "dependencyEntries",
       [](Config &c) {
         c.dependencyEntries = 4;
         c.window[1] = 256;
       },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         (void)run.scopeBegin();
         TaskSpec last(kernel);
         for (int i = 0; i < 128; ++i) {
           TaskSpec spec(kernel);
           auto id = run.submit(spec);
           if (!id)
             return id.failure();
           last.after(*id);
         }
         auto id = run.submit(last);
         return id ? Status() : id.failure();
       }},
      {"RegionsFillTheTensorMap", ErrorCode::TensorMapFull, "tensorMapEntries",
       [](Config &c) { c.tensorMapEntries = 8; },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         (void)run.scopeBegin();
         TaskSpec spec(kernel);
         return submitN(run, spec.allocate(4, {4}), 20);
       }},
      {"GangOfAThousandBlocks", ErrorCode::GangTooWide, "VECTOR cores", [](Config &) {},
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         TaskSpec spec(kernel);
         return submitN(run, spec.blocks(1000, true), 1);
       }},
      {"ScopesTooDeep", ErrorCode::ScopeMisuse, "maxScopeDepth", [](Config &c) { c.maxScopeDepth = 3; },
       [=](TaskRuntime &run, KernelId) -> Status {
         for (int i = 0; i < 4; ++i)
           if (Status status = run.scopeBegin(); !status)
             return status;
         return {};
       }},
  };
}

TEST_P(CapacityErrors, T24_AreReportedWithinASecond) {
  auto [mode, index] = GetParam();
  Capacity test = capacityCases()[size_t(index)];
  SCOPED_TRACE(test.name);
  Config config = smallConfig();
  config.mode = mode;
  test.configure(config);
  auto runtime = make(config);
  KernelId kernel = add(*runtime, "work", [](KernelCall &) {});
  auto begin = std::chrono::steady_clock::now();
  Status inside;
  Status status = runtime->run([&](TaskRuntime &run) { inside = test.program(run, kernel); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  ASSERT_FALSE(inside);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error(), HasSubstr(test.knob));
  EXPECT_EQ(runtime->error().code, test.code) << status.error();
  // The runtime is fully usable again.
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(kernel)); }));
  EXPECT_EQ(runtime->statistics().completed, 1u);
}
INSTANTIATE_TEST_SUITE_P(Scene, CapacityErrors,
                         ::testing::Combine(::testing::Values(Mode::Threads, Mode::VirtualTime),
                                            ::testing::Range(0, 8)),
                         [](auto &info) {
                           return std::string(std::get<0>(info.param) == Mode::Threads ? "Threads_" : "VirtualTime_") +
                                  capacityCases()[size_t(std::get<1>(info.param))].name;
                         });

TEST_P(BothModes, T25_BadArgumentsAndCallsAfterAFatalError) {
  auto runtime = make(config());
  KernelId kernel = add(*runtime, "work", [](KernelCall &) {});
  float value = 0;
  Tensor tensor = Tensor::dense(&value, 4, {1});
  auto fails = [&](TaskSpec spec, const char *text) {
    Status status = runtime->run([&](TaskRuntime &run) {
      auto id = run.submit(spec);
      ASSERT_FALSE(id);
      EXPECT_THAT(id.error(), HasSubstr(text));
      // Later calls are no-ops with the same error.
      EXPECT_FALSE(run.submit(TaskSpec(kernel)));
      EXPECT_FALSE(run.scopeBegin());
      EXPECT_FALSE(run.scopeEnd());
      EXPECT_FALSE(run.waitToRead(tensor));
    });
    EXPECT_FALSE(status);
    EXPECT_EQ(runtime->error().code, ErrorCode::BadArguments);
    EXPECT_EQ(runtime->statistics().submitted, 0u);
  };
  fails(TaskSpec(77), "there is no kernel 77");
  fails(TaskSpec(kernel, WorkerKind(9)), "there is no worker kind 9");
  fails(TaskSpec(kernel).blocks(0), "no block");
  fails(TaskSpec(kernel).after(TaskId::make(0, 99)), "waits for task 99");
  fails(TaskSpec(kernel).after(TaskId::make(9, 1)), "was not submitted");
  TaskSpec many(kernel);
  for (unsigned i = 0; i <= kMaxArguments; ++i)
    many.scalar(i);
  fails(many, "more than 48 arguments");
  TaskSpec outputs(kernel);
  for (unsigned i = 0; i <= kMaxOutputs; ++i)
    outputs.allocate(4, {1});
  fails(outputs, "allocates 17 outputs");
  fails(TaskSpec(kernel).allocate(4, {1ll << 40, 1ll << 40}), "more than 2^46 bytes");
  fails(TaskSpec(kernel).onlyIf(Tensor::dense(&value, 3, {1})), "predicate of 3 bytes");

  Status status = runtime->run([&](TaskRuntime &run) {
    run.fail("the user gave up");
    EXPECT_FALSE(run.submit(TaskSpec(kernel)));
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), "the user gave up");
  EXPECT_EQ(runtime->error().code, ErrorCode::UserFatal);

  Config none = config();
  none.cores = {0, 1, 0, 0};
  auto vectorOnly = make(none);
  KernelId other = add(*vectorOnly, "work", [](KernelCall &) {});
  EXPECT_FALSE(vectorOnly->run([&](TaskRuntime &run) {
    auto id = run.submit(TaskSpec(other, WorkerKind::Cube));
    ASSERT_FALSE(id);
    EXPECT_THAT(id.error(), HasSubstr("there is no CUBE core; give Config::cores[0] at least one"));
  }));
}

} // namespace
} // namespace pto_mlir::tasks
