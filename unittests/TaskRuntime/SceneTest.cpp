// Whole runs: small programs whose results are known.
#include "Harness.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

namespace pto_mlir::tasks {
namespace {

using ::testing::HasSubstr;

/// Both ways to run the same program.
class BothModes : public ::testing::TestWithParam<Mode> {
protected:
  Config config() const {
    Config config = smallConfig();
    config.mode = GetParam();
    return config;
  }
};
INSTANTIATE_TEST_SUITE_P(Scene, BothModes, ::testing::Values(Mode::Threads, Mode::VirtualTime),
                         [](auto &info) { return info.param == Mode::Threads ? "Threads" : "VirtualTime"; });

/// out = a + b over `n` floats, elementwise.
KernelBody addKernel(size_t n) {
  return [n](KernelCall &call) {
    const float *a = pointer(call.args[0]), *b = pointer(call.args[1]);
    float *out = pointer(call.args[2]);
    for (size_t i = 0; i < n; ++i)
      out[i] = a[i] + b[i];
  };
}

TEST_P(BothModes, T20_VectorExampleIsADiamond) {
  // f = (a + b + 1)(a + b + 2) + (a + b)
  constexpr int64_t n = 1024;
  auto runtime = make(config());
  KernelId add = tasks::add(*runtime, "add", addKernel(n));
  KernelId addScalar = tasks::add(*runtime, "adds", [](KernelCall &call) {
    for (int64_t i = 0; i < n; ++i)
      pointer(call.args[1])[i] = pointer(call.args[0])[i] + float(call.args[2]);
  });
  KernelId mul = tasks::add(*runtime, "mul", [](KernelCall &call) {
    for (int64_t i = 0; i < n; ++i)
      pointer(call.args[2])[i] = pointer(call.args[0])[i] * pointer(call.args[1])[i];
  });
  std::vector<float> a(n), b(n), f(n);
  for (int64_t i = 0; i < n; ++i) {
    a[i] = float(i);
    b[i] = float(2 * i % 7);
  }
  Tensor ta = Tensor::dense(a.data(), 4, {n}), tb = Tensor::dense(b.data(), 4, {n}), tf = Tensor::dense(f.data(), 4, {n});
  for (int round = 0; round < 3; ++round) {
    std::fill(f.begin(), f.end(), 0.0f);
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      EXPECT_OK(run.scopeBegin());
      TaskSpec sum(add), plus1(addScalar), plus2(addScalar), product(mul);
      submit(run, sum.input(ta).input(tb).allocate(4, {n}));
      const Tensor &s = sum.outputs()[0];
      submit(run, plus1.input(s).allocate(4, {n}).scalar(1));
      submit(run, plus2.input(s).allocate(4, {n}).scalar(2));
      submit(run, product.input(plus1.outputs()[0]).input(plus2.outputs()[0]).allocate(4, {n}));
      submit(run, TaskSpec(add).input(product.outputs()[0]).input(s).output(tf));
      EXPECT_OK(run.scopeEnd());
    }));
    for (int64_t i = 0; i < n; ++i) {
      float s = a[i] + b[i];
      ASSERT_EQ(f[i], (s + 1) * (s + 2) + s) << i;
    }
    EXPECT_EQ(runtime->statistics().completed, 5u);
    EXPECT_EQ(runtime->statistics().edges, 6u);
  }
}

TEST_P(BothModes, T21_AccumulationChainsOnBothKindsOfCores) {
  // C[g] += A[g][k] * B[g][k] over k, matmuls on CUBE and sums on VECTOR; 8x8 tiles of small integers are exact in float.
  constexpr int groups = 6, steps = 5, n = 8;
  auto runtime = make(config());
  KernelId matmul = add(*runtime, "matmul", [](KernelCall &call) {
    const float *a = pointer(call.args[0]), *b = pointer(call.args[1]);
    float *c = pointer(call.args[2]);
    EXPECT_EQ(call.kind, WorkerKind::Cube);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        c[i * n + j] = 0;
        for (int k = 0; k < n; ++k)
          c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
  });
  KernelId accumulate = add(*runtime, "accumulate", [](KernelCall &call) {
    EXPECT_EQ(call.kind, WorkerKind::Vector);
    for (int i = 0; i < n * n; ++i)
      pointer(call.args[1])[i] += pointer(call.args[0])[i];
  });
  std::vector<float> a(groups * steps * n * n), b(a.size()), c(groups * n * n), expected(c.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = float(int(i * 7 % 11) - 5);
    b[i] = float(int(i * 5 % 13) - 6);
  }
  for (int g = 0; g < groups; ++g)
    for (int s = 0; s < steps; ++s)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          for (int k = 0; k < n; ++k)
            expected[(g * n + i) * n + j] += a[((g * steps + s) * n + i) * n + k] * b[((g * steps + s) * n + k) * n + j];
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int s = 0; s < steps; ++s)
      for (int g = 0; g < groups; ++g) {
        EXPECT_OK(run.scopeBegin());
        size_t tile = size_t(g * steps + s) * n * n;
        TaskSpec product(matmul, WorkerKind::Cube);
        submit(run, product.input(Tensor::dense(&a[tile], 4, {n, n})).input(Tensor::dense(&b[tile], 4, {n, n})).allocate(4, {n, n}));
        submit(run, TaskSpec(accumulate).input(product.outputs()[0]).inout(Tensor::dense(&c[size_t(g) * n * n], 4, {n, n})));
        EXPECT_OK(run.scopeEnd());
      }
  }));
  EXPECT_EQ(c, expected);
}

TEST_P(BothModes, T22_TinyRingsGiveTheSameResult) {
  Config tiny = config();
  tiny.window = {16, 16, 16, 16};
  tiny.heapBytes = {1024, 1024, 1024, 1024};
  tiny.dependencyEntries = 32;
  tiny.tensorMapEntries = 32;
  auto runtime = make(tiny);
  // A chain through heap outputs: each task adds its number to its input.
  KernelId step = add(*runtime, "step", [](KernelCall &call) {
    *pointer<uint64_t>(call.args[1]) = *pointer<uint64_t>(call.args[0]) * 3 + call.args[2];
  });
  KernelId store = add(*runtime, "store", [](KernelCall &call) { *pointer<uint64_t>(call.args[1]) = *pointer<uint64_t>(call.args[0]); });
  uint64_t state = 1, expected = 1;
  constexpr int count = 2000;
  Tensor external = Tensor::dense(&state, 8, {1});
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int i = 0; i < count; ++i) {
      EXPECT_OK(run.scopeBegin());
      TaskSpec next(step);
      submit(run, next.input(external).allocate(8, {1}).scalar(uint64_t(i)));
      submit(run, TaskSpec(store).input(next.outputs()[0]).output(external));
      EXPECT_OK(run.scopeEnd());
      expected = expected * 3 + uint64_t(i);
    }
  }));
  EXPECT_EQ(state, expected);
  EXPECT_GT(runtime->statistics().slotReuses, 10u * 16);
  EXPECT_LE(runtime->statistics().peakTasks[1], 16u);
}

TEST(Scene, T22_LongChainWithOneTaskPerScopeNeverHangs) {
  // A slot that is published before it leaves CONSUMED loses tasks here.
  int rounds = fullTests() ? 100 : 6 / (kSlow > 1 ? 3 : 1);
  int count = fullTests() ? 300000 : 60000 / kSlow;
  for (int round = 0; round < rounds; ++round) {
    Config config;
    config.cores = {0, 1, 0, 0};
    uint32_t window = (const uint32_t[]){16, 64, 1024}[round % 3];
    config.window = {window, window, window, window};
    config.schedulers = 1 + uint32_t(round % 2);
    auto runtime = make(config);
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      TaskId last;
      for (int i = 0; i < count; ++i) {
        (void)run.scopeBegin();
        TaskSpec task = TaskSpec::barrier();
        if (last)
          task.after(last);
        last = *run.submit(task);
        (void)run.scopeEnd();
      }
    }));
    ASSERT_EQ(runtime->statistics().completed, uint64_t(count));
  }
}

TEST_P(BothModes, T23_HeapIsRebasedWhenItIsEmpty) {
  Config half = config();
  half.heapBytes = {1536 << 10, 1536 << 10, 1536 << 10, 1536 << 10};
  auto runtime = make(half);
  KernelId touch = add(*runtime, "touch", [](KernelCall &call) { std::fill_n(pointer<char>(call.args[0]), 1 << 20, char(1)); });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_OK(run.scopeBegin());
      submit(run, TaskSpec(touch).allocate(1, {1 << 20}));
      EXPECT_OK(run.scopeEnd());
    }
  }));
}

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
        return Failure{id.error()};
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
      {"MoreProducersThanThePoolHolds", ErrorCode::DependencyPool, "dependencyEntries", [](Config &c) { c.dependencyEntries = 4; c.window[1] = 256; },
       [=](TaskRuntime &run, KernelId kernel) -> Status {
         (void)run.scopeBegin();
         TaskSpec last(kernel);
         for (int i = 0; i < 128; ++i) {
           TaskSpec spec(kernel);
           auto id = run.submit(spec);
           if (!id)
             return Failure{id.error()};
           last.after(*id);
         }
         auto id = run.submit(last);
         return id ? Status() : Failure{id.error()};
       }},
      {"RegionsFillTheTensorMap", ErrorCode::TensorMapFull, "tensorMapEntries", [](Config &c) { c.tensorMapEntries = 8; },
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
  // The runtime is as good as new.
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(kernel)); }));
  EXPECT_EQ(runtime->statistics().completed, 1u);
}
INSTANTIATE_TEST_SUITE_P(Scene, CapacityErrors,
                         ::testing::Combine(::testing::Values(Mode::Threads, Mode::VirtualTime), ::testing::Range(0, 8)),
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
      // Everything after it is a no-op with the same error.
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

TEST(Scene, T26_HungKernelIsNamedAndTheRuntimeGoesOnLater) {
  Config config = smallConfig();
  config.hangMs = 100;
  auto runtime = make(config);
  std::atomic<bool> release{false};
  KernelId hang = add(*runtime, "spinner", [&](KernelCall &) {
    while (!release)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  std::atomic<int> ran{0};
  KernelId late = add(*runtime, "late", [&](KernelCall &) { ++ran; });
  float value = 0;
  Tensor tensor = Tensor::dense(&value, 4, {1});
  Status status = runtime->run([&](TaskRuntime &run) {
    TaskId hung = submit(run, TaskSpec(hang, WorkerKind::Cube).output(tensor));
    submit(run, TaskSpec(late).after(hung));
    Status read = run.waitToRead(tensor);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error(), HasSubstr("'spinner') on CUBE core 0"));
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error(), HasSubstr("task 1 ('spinner') on CUBE core 0 runs"));
  EXPECT_EQ(runtime->error().code, ErrorCode::HungKernel);
  Status next = runtime->begin();
  ASSERT_FALSE(next);
  EXPECT_THAT(next.error(), HasSubstr("has not returned"));
  EXPECT_EQ(runtime->error().code, ErrorCode::NotUsable);
  release = true;
  while (!runtime->begin())
    std::this_thread::yield();
  EXPECT_OK(runtime->finish());
  EXPECT_EQ(ran, 0); // the rest of the failed run was cancelled
}

TEST_P(BothModes, T26_ThrowingKernelFailsItsConsumersOnly) {
  auto runtime = make(config());
  KernelId bad = add(*runtime, "bad", [](KernelCall &) { throw std::runtime_error("division of apples by pears"); });
  KernelId odd = add(*runtime, "odd", [](KernelCall &) { throw 7; });
  std::atomic<int> ran{0};
  KernelId good = add(*runtime, "good", [&](KernelCall &) { ++ran; });
  Status status = runtime->run([&](TaskRuntime &run) {
    TaskId failing = submit(run, TaskSpec(bad));
    TaskId child = submit(run, TaskSpec(good).after(failing));
    submit(run, TaskSpec(good, WorkerKind::Cube).after(child));
    for (int i = 0; i < 10; ++i)
      submit(run, TaskSpec(good, WorkerKind::AiCpu));
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error(), HasSubstr("task 1 ('bad') failed on VECTOR core"));
  EXPECT_THAT(status.error(), HasSubstr("division of apples by pears"));
  EXPECT_EQ(runtime->error().code, ErrorCode::KernelFailed);
  EXPECT_EQ(runtime->error().task, TaskId::make(0, 1));
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(runtime->statistics().failed, 3u);
  EXPECT_EQ(runtime->statistics().completed, 13u);
  status = runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(odd)); });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error(), HasSubstr("an exception that is no std::exception"));
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(good)); }));
}

TEST_P(BothModes, T27_BarriersAndTasksWithoutKernels) {
  Config large = config();
  large.window = {4096, 4096, 4096, 4096};
  auto runtime = make(large);
  std::vector<int> order;
  KernelId note = add(*runtime, "note", [&](KernelCall &call) { order.push_back(int(call.args[0])); });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    TaskId last = submit(run, TaskSpec(note, WorkerKind::AiCpu).scalar(1));
    for (int i = 0; i < 500; ++i) // a long chain
      last = submit(run, TaskSpec::barrier().after(last));
    std::vector<TaskId> fan;
    for (int i = 0; i < 18; ++i)
      fan.push_back(submit(run, TaskSpec::barrier().after(last)));
    TaskSpec join = TaskSpec::barrier();
    for (TaskId id : fan)
      join.after(id);
    last = submit(run, join);
    submit(run, TaskSpec(note, WorkerKind::AiCpu).scalar(2).after(last));
  }));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(BothModes, T28_AllToAllExplicitEdges) {
  constexpr int n = 64;
  Config wide = config();
  wide.window = {256, 256, 256, 256};
  wide.dependencyEntries = 16384;
  auto runtime = make(wide);
  std::vector<std::atomic<int>> values(n);
  std::atomic<int> wrong{0};
  KernelId produce = add(*runtime, "produce", [&](KernelCall &call) { values[call.args[0]] = int(call.args[0]) + 1; });
  KernelId consume = add(*runtime, "consume", [&](KernelCall &) {
    int sum = 0;
    for (auto &value : values)
      sum += value;
    wrong += sum != n * (n + 1) / 2;
  });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    std::vector<TaskId> producers;
    for (int i = 0; i < n; ++i)
      producers.push_back(submit(run, TaskSpec(produce).scalar(uint64_t(i))));
    for (int i = 0; i < n; ++i) {
      TaskSpec spec(consume, WorkerKind::Cube);
      for (TaskId id : producers)
        spec.after(id).after(id); // twice counts once
      submit(run, spec);
    }
  }));
  EXPECT_EQ(wrong, 0);
}

TEST_P(BothModes, T29_PredicatesSkipAndStillUnlock) {
  auto runtime = make(config());
  std::atomic<int> ran{0};
  int32_t flag = 0, always = 1, never = 0;
  KernelId decide = add(*runtime, "decide", [](KernelCall &call) { *pointer<int32_t>(call.args[0]) = int32_t(call.args[1]); });
  KernelId work = add(*runtime, "work", [&](KernelCall &) { ++ran; });
  Tensor flagTensor = Tensor::dense(&flag, 4, {1});
  auto count = [&](std::function<void(TaskRuntime &)> program) {
    ran = 0;
    EXPECT_OK(runtime->run(program));
    return ran.load();
  };
  EXPECT_EQ(count([&](TaskRuntime &run) {
              submit(run, TaskSpec(work).onlyIf(Tensor::dense(&always, 4, {1})));
              TaskId skipped = submit(run, TaskSpec(work).onlyIf(Tensor::dense(&never, 4, {1})));
              submit(run, TaskSpec(work).onlyIf(Tensor::dense(&never, 4, {1}), true));
              submit(run, TaskSpec(work).after(skipped));
            }),
            3);
  EXPECT_EQ(runtime->statistics().skipped, 1u);
  // The value comes from an earlier task, and a later one overwrites it.
  EXPECT_EQ(count([&](TaskRuntime &run) {
              for (int i = 0; i < 20; ++i) {
                submit(run, TaskSpec(decide, WorkerKind::AiCpu).output(flagTensor).scalar(uint64_t(i % 4 == 0)));
                submit(run, TaskSpec(work).onlyIf(flagTensor));
              }
            }),
            5);
  EXPECT_EQ(runtime->statistics().skipped, 15u);
}

TEST_P(BothModes, T30_BlocksAndGangs) {
  Config many = config();
  many.cores = {2, 6, 1, 0};
  many.window = {1024, 1024, 1024, 1024};
  auto runtime = make(many);
  std::vector<std::atomic<int>> hits(64);
  KernelId count = add(*runtime, "count", [&](KernelCall &call) {
    EXPECT_EQ(call.numBlocks, call.args[0]);
    ++hits[call.block];
  });
  auto check = [&](uint32_t blocks, int times) {
    for (uint32_t i = 0; i < hits.size(); ++i)
      EXPECT_EQ(hits[i].exchange(0), i < blocks ? times : 0) << i;
  };
  // More blocks than cores; two wide ones together.
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    submit(run, TaskSpec(count).blocks(40).scalar(40));
    submit(run, TaskSpec(count).blocks(40).scalar(40));
  }));
  check(40, 2);
  // A gang that fits, one that fits exactly, mixed with normal work.
  for (int round = 0; round < 6; ++round)
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      for (int i = 0; i < 54; ++i)
        submit(run, i % 3 == 0   ? TaskSpec(count).blocks(6, true).scalar(6)
                    : i % 3 == 1 ? TaskSpec(count).blocks(6).scalar(6)
                                 : TaskSpec(count).blocks(6, true).scalar(6).after(TaskId::make(0, 1)));
    }));
  check(6, 54 * 6);
}

TEST(Scene, T30_GangBlocksRunTogether) {
  Config config = smallConfig();
  config.cores = {0, 4, 0, 0};
  config.workerThreads = 4;
  auto runtime = make(config);
  std::atomic<int> inside{0};
  // Ends only when all four blocks are there.
  KernelId meet = add(*runtime, "meet", [&](KernelCall &) {
    ++inside;
    while (inside % 4 != 0)
      std::this_thread::yield();
  });
  KernelId work = add(*runtime, "work", [](KernelCall &) {});
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    TaskId last;
    for (int i = 0; i < 20; ++i) {
      TaskSpec gang(meet);
      if (last)
        gang.after(last);
      last = submit(run, gang.blocks(4, true));
      submit(run, TaskSpec(work));
      submit(run, TaskSpec(work));
    }
  }));
  EXPECT_EQ(inside, 80);
}

TEST_P(BothModes, T31_HostAccessAndWriteAfterRead) {
  auto runtime = make(config());
  std::vector<int> log;
  int value = 0;
  Tensor tensor = Tensor::dense(&value, 4, {1});
  KernelId write = add(*runtime, "write", [&](KernelCall &call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    *pointer<int>(call.args[0]) = int(call.args[1]);
  });
  std::atomic<int> wrong{0};
  KernelId expect = add(*runtime, "expect", [&](KernelCall &call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    wrong += *pointer<int>(call.args[0]) != int(call.args[1]);
  });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    submit(run, TaskSpec(write).output(tensor).scalar(1));
    submit(run, TaskSpec(expect).input(tensor).scalar(1));
    submit(run, TaskSpec(expect, WorkerKind::Cube).input(tensor).scalar(1));
    submit(run, TaskSpec(write).output(tensor).scalar(2)); // waits for both readers
    EXPECT_OK(run.waitToRead(tensor));
    EXPECT_EQ(value, 2);
    submit(run, TaskSpec(expect).input(tensor).scalar(2));
    EXPECT_OK(run.waitToWrite(tensor)); // waits for the reader
    value = 3;
    submit(run, TaskSpec(expect).input(tensor).scalar(3));
    submit(run, TaskSpec(write).inout(tensor).scalar(4));
    submit(run, TaskSpec(expect).input(tensor).scalar(4));
  }));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(value, 4);
}

TEST_P(BothModes, T32_OutputUsedAfterItsScopeIsDiagnosed) {
  auto runtime = make(config());
  KernelId work = add(*runtime, "work", [](KernelCall &) {});
  Status status = runtime->run([&](TaskRuntime &run) {
    EXPECT_OK(run.scopeBegin());
    TaskSpec producer(work);
    TaskId id = submit(run, producer.allocate(4, {16}));
    EXPECT_OK(run.scopeEnd());
    EXPECT_OK(run.wait(id));
    while (run.state(id) != TaskState::Consumed)
      std::this_thread::yield();
    EXPECT_FALSE(run.waitToRead(producer.outputs()[0]));
    auto late = run.submit(TaskSpec(work).input(producer.outputs()[0]));
    ASSERT_FALSE(late);
    EXPECT_THAT(late.error(), HasSubstr("used after its scope ended"));
  });
  EXPECT_FALSE(status);
  EXPECT_EQ(runtime->error().code, ErrorCode::BadArguments);
}

TEST(Scene, T34_ManyMoreThreadsThanProcessors) {
  Config config;
  config.cores = {8, 16, 4, 4};
  config.schedulers = 8;
  config.workerThreads = 32;
  config.window = {128, 128, 128, 128};
  auto runtime = make(config);
  std::atomic<int> ran{0};
  KernelId work = add(*runtime, "work", [&](KernelCall &) { ++ran; });
  int count = 4000 / kSlow;
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    TaskId last;
    for (int i = 0; i < count; ++i) {
      TaskSpec spec(work, WorkerKind(i % 4));
      if (i % 5 == 0 && last)
        spec.after(last);
      last = submit(run, spec);
    }
  }));
  EXPECT_EQ(ran, count);
}

TEST(Scene, T35_SoakKeepsMemoryFlat) {
  auto residentKiB = [] {
    long pages = 0, resident = 0;
    if (FILE *file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
      std::fclose(file);
    }
    return resident * 4;
  };
  Config config;
  config.cores = {0, 1, 0, 0};
  config.window = {1024, 1024, 1024, 1024};
  config.heapBytes = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
  auto runtime = make(config);
  std::vector<char> tiles(64 * 256);
  long count = fullTests() ? 10000000 : 200000 / kSlow, warm = 0;
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (long i = 0; i < count; ++i) {
      if (i % 100 == 0) {
        if (i)
          (void)run.scopeEnd();
        (void)run.scopeBegin();
      }
      if (i == count / 4)
        warm = residentKiB();
      TaskSpec spec = TaskSpec::barrier();
      spec.inout(Tensor::dense(&tiles[size_t(i % 64) * 256], 1, {256})).input(Tensor::dense(&tiles[size_t((i + 1) % 64) * 256], 1, {256}));
      if (i % 7 == 0)
        spec.allocate(4, {100});
      if (!run.submit(spec))
        break;
    }
    (void)run.scopeEnd();
  }));
  EXPECT_EQ(runtime->statistics().completed, uint64_t(count));
  EXPECT_LT(residentKiB(), warm + (kSlow > 1 ? 64 * 1024 : 4 * 1024));
}

// While the orchestrator waits for a slot the ring may drain up to the tasks of the open scope: that is no deadlock.
TEST(Scene, T35_RingThatDrainsUpToTheOpenScopeIsNoDeadlock) {
  Config config;
  config.cores = {0, 1, 0, 0};
  config.window = {64, 64, 64, 64};
  auto runtime = make(config);
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    TaskId last;
    for (int scope = 0; scope < 40000 / kSlow; ++scope) {
      (void)run.scopeBegin();
      for (int i = 0; i < 6; ++i) {
        TaskSpec spec = TaskSpec::barrier();
        if (last)
          spec.after(last);
        auto id = run.submit(spec);
        if (!id)
          return;
        last = *id;
      }
      (void)run.scopeEnd();
    }
  }));
}

} // namespace
} // namespace pto_mlir::tasks
