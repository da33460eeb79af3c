// Task kinds: barriers, predicates, blocks and gangs, host accesses.
#include "Harness.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace pto_mlir::tasks {
namespace {

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
    fan.reserve(18);
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
    producers.reserve(n);
    for (int i = 0; i < n; ++i)
      producers.push_back(submit(run, TaskSpec(produce).scalar(uint64_t(i))));
    for (int i = 0; i < n; ++i) {
      TaskSpec spec(consume, WorkerKind::Cube);
      for (TaskId id : producers)
        spec.after(id).after(id); // a duplicate counts once
      submit(run, spec);
    }
  }));
  EXPECT_EQ(wrong, 0);
}

TEST_P(BothModes, T29_PredicatesSkipAndStillUnlock) {
  auto runtime = make(config());
  std::atomic<int> ran{0};
  int32_t flag = 0, always = 1, never = 0;
  KernelId decide =
      add(*runtime, "decide", [](KernelCall &call) { *pointer<int32_t>(call.args[0]) = int32_t(call.args[1]); });
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
              submit(run, TaskSpec(work).onlyIf(Tensor::dense(&never, 4, {1}), Comparison::Equal));
              submit(run, TaskSpec(work).after(skipped));
            }),
            3);
  EXPECT_EQ(runtime->statistics().skipped, 1u);
  // The predicate comes from an earlier task, and a later task overwrites it.
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
  // More blocks than cores, and two wide tasks concurrently.
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    submit(run, TaskSpec(count).blocks(40).scalar(40));
    submit(run, TaskSpec(count).blocks(40).scalar(40));
  }));
  check(40, 2);
  // Gangs that fit loosely and exactly, mixed with normal tasks.
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
  // Ends only if all four blocks run concurrently.
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

// In virtual time, where the schedule is deterministic: one cube core with two vector cores.
TEST(Kinds, CompanionsAreKeptAsLongAsTheBlock) {
  Config config = smallConfig();
  config.mode = Mode::VirtualTime;
  config.trace = true;
  auto runtime = make(config);
  KernelId work = add(*runtime, "work", [](KernelCall &call) { call.costNs = call.args[0]; });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    submit(run, TaskSpec(work).scalar(1000));                                // occupies one vector core until 1000
    submit(run, TaskSpec(work, WorkerKind::Cube).scalar(500).companions(2)); // so both are free from 1000 on
    submit(run, TaskSpec(work).scalar(100));                                 // runs after it, although a core was free
    submit(run, TaskSpec(work, WorkerKind::AiCpu).scalar(10));
  }));
  uint64_t mixedBegin = 0, mixedEnd = 0, lateBegin = 0;
  for (const BlockRecord &block : runtime->trace().blocks) {
    if (block.kind == WorkerKind::Cube)
      mixedBegin = block.start, mixedEnd = block.end;
    if (block.kind == WorkerKind::Vector && block.end - block.start == 100)
      lateBegin = block.start;
  }
  EXPECT_GE(mixedBegin, 1000u);
  EXPECT_EQ(mixedEnd - mixedBegin, 500u);
  EXPECT_GE(lateBegin, mixedEnd);

  TaskSpec tooMany = TaskSpec(work, WorkerKind::Cube).scalar(1).companions(3),
           none = TaskSpec(work).scalar(1).companions(1);
  (void)runtime->run([&](TaskRuntime &run) {
    auto id = run.submit(tooMany);
    ASSERT_FALSE(id);
    EXPECT_THAT(id.error(), testing::HasSubstr("3 vector cores in addition to its CUBE core; there are 2"));
    EXPECT_FALSE(run.submit(none));
  });
}

} // namespace
} // namespace pto_mlir::tasks
