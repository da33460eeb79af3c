// Scenarios of the checklist (docs/task-runtime-checklist.md) that no other file covers.
#include "Harness.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace pto_mlir::tasks {
namespace {

using ::testing::HasSubstr;

TEST_P(BothModes, T21_AlternatingProductsAndSums) {
  // Rounds of four 4x4 products on CUBE and four sums on VECTOR, all independent; small integers are exact in float.
  constexpr int width = 4, n = 4, size = n * n;
  const int rounds = GetParam() == Mode::VirtualTime || fullTests() ? 500 : 50;
  Config settings = config();
  settings.window = {1024, 1024, 1024, 1024};
  settings.trace = true;
  auto runtime = make(settings);
  KernelId product = add(*runtime, "product", [](KernelCall &call) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int k = 0; k < n; ++k)
          sum += pointer(call.args[0])[i * n + k] * pointer(call.args[1])[k * n + j];
        pointer(call.args[2])[i * n + j] = sum;
      }
  });
  KernelId sum = add(*runtime, "sum", [](KernelCall &call) {
    for (int i = 0; i < size; ++i)
      pointer(call.args[2])[i] = pointer(call.args[0])[i] + pointer(call.args[1])[i];
  });
  std::vector<float> a(size_t(rounds * width * size)), b(a.size()), products(a.size()), sums(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = float(int(i * 7 % 11) - 5);
    b[i] = float(int(i * 5 % 13) - 6);
  }
  auto tile = [](std::vector<float> &data, int index) { return Tensor::dense(&data[size_t(index) * size], 4, {n, n}); };
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int i = 0; i < rounds * width; ++i) {
      if (i % width == 0)
        EXPECT_OK(run.scopeBegin());
      submit(run, TaskSpec(product, WorkerKind::Cube).input(tile(a, i)).input(tile(b, i)).output(tile(products, i)));
      submit(run, TaskSpec(sum).input(tile(a, i)).input(tile(b, i)).output(tile(sums, i)));
      if (i % width == width - 1)
        EXPECT_OK(run.scopeEnd());
    }
  }));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t base = i / size * size, row = i % size / n, column = i % n;
    float expected = 0;
    for (size_t k = 0; k < n; ++k)
      expected += a[base + row * n + k] * b[base + k * n + column];
    ASSERT_EQ(products[i], expected);
    ASSERT_EQ(sums[i], a[i] + b[i]);
  }
  EXPECT_EQ(runtime->statistics().completed, 2u * unsigned(rounds * width));
  if (GetParam() == Mode::VirtualTime) { // 2000 products on the one cube core, concurrent with sums on vector cores
    EXPECT_EQ(runtime->trace().summarize().makespan, 2000u * 1000);
    EXPECT_EQ(runtime->trace().summarize().criticalPath, 1000u);
  }
}

TEST_P(BothModes, T22_ScopesOfThirteenInAWindowOfSixteen) {
  Config settings = config();
  settings.window = {16, 16, 16, 16};
  auto runtime = make(settings);
  std::atomic<int> sum{0};
  KernelId count = add(*runtime, "count", [&](KernelCall &call) { sum += int(call.args[0]); });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    for (int i = 0; i < 208; ++i) {
      if (i % 13 == 0)
        EXPECT_OK(run.scopeBegin());
      submit(run, TaskSpec(count).scalar(uint64_t(i)));
      if (i % 13 == 12)
        EXPECT_OK(run.scopeEnd());
    }
  }));
  EXPECT_EQ(sum, 207 * 208 / 2);
  EXPECT_EQ(runtime->statistics().slotReuses, 208u - 16);
}

TEST(Scene, T02_ReleaseAndCancelUnblockASubmission) {
  Config config = smallConfig();
  config.window = {2, 2, 2, 2};
  for (bool cancelled : {false, true}) {
    auto runtime = make(config);
    std::atomic<bool> release{false};
    KernelId wait = add(*runtime, "wait", [&](KernelCall &) {
      while (!release)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    std::thread other;
    bool refused = false;
    Status status = runtime->run([&](TaskRuntime &run) {
      other = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (cancelled)
          runtime->cancel();
        release = true;
      });
      for (int i = 0; i < 8 && !refused; ++i) {
        auto id = run.submit(TaskSpec(wait));
        refused = !id;
        if (refused)
          EXPECT_THAT(id.error(), HasSubstr("the run was cancelled"));
      }
    });
    other.join();
    EXPECT_EQ(bool(status), !cancelled);
    EXPECT_EQ(refused, cancelled);
    EXPECT_GE(runtime->statistics().blockedTimes, 1u); // back-pressure is visible
    EXPECT_GE(runtime->statistics().blockedNs, 10u * 1000 * 1000);
    EXPECT_LE(runtime->statistics().peakTasks[0], 2u);
  }
}

TEST_P(BothModes, T25_UserErrorEndsTheRunAndOnlyIt) {
  auto runtime = make(config());
  KernelId work = add(*runtime, "work", [](KernelCall &) {});
  Status status = runtime->run([&](TaskRuntime &run) {
    submit(run, TaskSpec(work));
    run.fail("the caller gives up");
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(run.submit(TaskSpec(work)));
      EXPECT_FALSE(run.scopeBegin());
    }
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error(), HasSubstr("the caller gives up"));
  EXPECT_EQ(runtime->error().code, ErrorCode::UserFatal);
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(work)); }));
}

} // namespace
} // namespace pto_mlir::tasks
