// Long runs on few slots and few processors.
#include "Harness.h"

#include <atomic>

namespace pto_mlir::tasks {
namespace {

TEST(Scene, T22_LongChainWithOneTaskPerScopeNeverHangs) {
  // Publishing a slot before it leaves CONSUMED would lose tasks here.
  int rounds = fullTests() ? 100 / kSlow : 6 / (kSlow > 1 ? 3 : 1);
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
  long count = (fullTests() ? 10000000 : 200000) / kSlow, warm = 0;
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
      spec.inout(Tensor::dense(&tiles[size_t(i % 64) * 256], 1, {256}))
          .input(Tensor::dense(&tiles[size_t((i + 1) % 64) * 256], 1, {256}));
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

// While the orchestrator waits for a slot, the ring may drain down to the tasks of the open scope: not a deadlock.
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
