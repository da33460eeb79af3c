// Kernels that hang or throw, and handles used after their scope.
#include "Harness.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace pto_mlir::tasks {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_THAT(status.error(), HasSubstr("an exception not derived from std::exception"));
  // A task with a name of its own: task, kernel, core and cause.
  status = runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(bad).called("first product")); });
  ASSERT_FALSE(status);
  EXPECT_THAT(
      status.error(),
      ::testing::MatchesRegex(
          R"(task [0-9]+ \('first product', kernel 'bad'\) failed on VECTOR core [12]: division of apples by pears)"));
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { submit(run, TaskSpec(good)); }));
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

} // namespace
} // namespace pto_mlir::tasks
