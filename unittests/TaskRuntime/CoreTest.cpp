// States, counters, wiring, scopes and errors, with a core that is stepped manually.
#include "Harness.h"

#include <atomic>
#include <new>
#include <thread>

namespace pto_mlir::tasks {
namespace {

using ::testing::HasSubstr;

/// A driver without threads and clock: only the test makes progress.
struct ManualDriver : Driver {
  uint64_t now() override { return 0; }
  void beginRun() override {}
  void kick() override {}
  Stall waitUntil(const std::function<bool()> &done) override {
    if (onWait)
      onWait();
    return done() ? Stall{} : Stall{ErrorCode::NoProgress, "nothing happens by itself"};
  }
  std::vector<HandshakeRecord> handshake() override { return {}; }
  std::function<void()> onWait;
};

class Core : public ::testing::Test {
protected:
  Core() { start(smallConfig()); }
  void start(Config newConfig) {
    config = newConfig;
    kernels = {{"work", [](KernelCall &) {}, 1}};
    core = std::make_unique<TaskCore>(config, kernels);
    core->setDriver(&driver);
    core->beginRun();
  }

  TaskId submit(TaskSpec spec) {
    auto id = core->submit(spec);
    EXPECT_TRUE(id) << (id ? "" : id.error());
    return id ? *id : TaskId{};
  }
  TaskSpec work() { return TaskSpec(0); }
  std::vector<uint64_t> ready() {
    uint64_t ids[64];
    size_t count = core->ready(WorkerKind::Vector).popSome(ids, 64);
    count += core->readyInline().popSome(ids + count, 64 - count);
    std::vector<uint64_t> result(ids, ids + count);
    std::sort(result.begin(), result.end());
    return result;
  }
  void complete(TaskId id, bool failed = false) {
    if (failed)
      core->reportFailure(core->slotOf(id), id, 0, "as the test wants");
    core->complete(core->slotOf(id), id);
  }

  Config config;
  std::vector<Kernel> kernels;
  ManualDriver driver;
  std::unique_ptr<TaskCore> core;
};

using Ids = std::vector<uint64_t>;

TEST_F(Core, T05_FullLife) {
  ASSERT_TRUE(core->scopeBegin());
  TaskId a = submit(work());
  TaskId b = submit(work().after(a));
  EXPECT_EQ(core->state(a), TaskState::Ready);
  EXPECT_EQ(core->state(b), TaskState::Pending);
  EXPECT_EQ(ready(), Ids{a.value});
  core->setRunning(core->slotOf(a), a);
  EXPECT_EQ(core->state(a), TaskState::Running);
  complete(a);
  EXPECT_EQ(core->state(a), TaskState::Completed); // referenced by b and the scope
  EXPECT_EQ(core->state(b), TaskState::Ready);
  EXPECT_EQ(ready(), Ids{b.value}); // exactly once
  EXPECT_EQ(ready(), Ids{});
  complete(b);
  EXPECT_EQ(core->state(a), TaskState::Completed); // referenced by the scope
  ASSERT_TRUE(core->scopeEnd());
  EXPECT_EQ(core->state(a), TaskState::Consumed);
  EXPECT_EQ(core->state(b), TaskState::Consumed);
  EXPECT_TRUE(core->drained());
  EXPECT_EQ(core->state(TaskId::make(1, 3)), TaskState::Free);
}

TEST_F(Core, T05_PartialFaninIsNotReady) {
  std::vector<TaskId> producers;
  TaskSpec spec = work();
  for (int i = 0; i < 3; ++i) {
    producers.push_back(submit(work()));
    spec.after(producers.back());
  }
  TaskId last = submit(spec);
  ready();
  complete(producers[1]);
  complete(producers[0]);
  EXPECT_EQ(ready(), Ids{});
  EXPECT_EQ(core->state(last), TaskState::Pending);
  complete(producers[2]);
  EXPECT_EQ(ready(), Ids{last.value});
}

TEST_F(Core, T05_ManyThreadsReleaseOneReady) {
  for (int round = 0; round < 200 / kSlow; ++round) {
    std::vector<TaskId> producers;
    TaskSpec spec = work();
    for (int i = 0; i < 4; ++i) {
      producers.push_back(submit(work()));
      spec.after(producers.back());
    }
    TaskId last = submit(spec);
    ready();
    std::atomic<int> go{0};
    std::atomic<uint32_t> madeReady{0};
    std::vector<std::thread> threads;
    threads.reserve(producers.size());
    for (TaskId id : producers)
      threads.emplace_back([&, id] {
        ++go;
        while (go < 4)
          std::this_thread::yield();
        madeReady += core->complete(core->slotOf(id), id).madeReady;
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(madeReady, 1u);
    ASSERT_EQ(ready(), Ids{last.value});
    complete(last);
  }
  EXPECT_TRUE(core->drained());
}

TEST_F(Core, T05_ConsumedOnlyWhenTheLastConsumerHasEnded) {
  TaskId a = submit(work());
  TaskId b = submit(work().after(a)), c = submit(work().after(a));
  complete(a);
  EXPECT_EQ(core->state(a), TaskState::Completed);
  complete(c);
  EXPECT_EQ(core->state(a), TaskState::Completed);
  complete(b);
  EXPECT_EQ(core->state(a), TaskState::Consumed);
}

TEST_F(Core, T05_ScopeEndReleasesAll) {
  ASSERT_TRUE(core->scopeBegin());
  std::vector<TaskId> ids;
  ids.reserve(20);
  for (int i = 0; i < 20; ++i)
    ids.push_back(submit(work()));
  for (TaskId id : ids)
    complete(id);
  EXPECT_EQ(core->ring(1)->watermark(), 1u);
  ASSERT_TRUE(core->scopeEnd());
  EXPECT_EQ(core->ring(1)->watermark(), 21u);
}

TEST_F(Core, T06_NoProducersAllFinishedMixedDuplicates) {
  ASSERT_TRUE(core->scopeBegin());
  TaskId done = submit(work());
  complete(done);
  TaskId pending = submit(work());
  EXPECT_EQ(ready().size(), 2u);
  TaskId afterDone = submit(work().after(done)); // complete, still referenced by the scope
  EXPECT_EQ(ready(), Ids{afterDone.value});
  TaskId mixed = submit(work().after(done).after(pending).after(pending).after(done));
  EXPECT_EQ(core->slotOf(mixed).faninCount, 1u); // no reference to the completed task
  EXPECT_EQ(ready(), Ids{});
  complete(pending);
  EXPECT_EQ(ready(), Ids{mixed.value});
}

TEST_F(Core, T06_EdgesToConsumedProducersAreNotMade) {
  TaskId a = submit(work());
  complete(a);
  ASSERT_EQ(core->state(a), TaskState::Consumed);
  TaskId b = submit(work().after(a));
  EXPECT_EQ(core->slotOf(b).faninCount, 0u);
  // Also if the slot has been reused by another task.
  std::vector<TaskId> ids;
  complete(b);
  for (uint32_t i = 0; i < config.window[0]; ++i) {
    TaskId id = submit(work());
    complete(id);
  }
  TaskId c = submit(work().after(a));
  EXPECT_EQ(core->slotOf(c).faninCount, 0u);
  EXPECT_EQ(core->state(c), TaskState::Ready);
}

TEST_F(Core, T06_TheSlotOfAProducerMayBecomeTheConsumers) {
  // With a window of one the consumer waits until its producer is consumed, then reuses its slot.
  Config one = smallConfig();
  one.window = {1, 1, 1, 1};
  start(one);
  TaskId a = submit(work());
  driver.onWait = [&] { complete(a); };
  TaskId b = submit(work().after(a));
  EXPECT_EQ(&core->slotOf(a), &core->slotOf(b));
  EXPECT_EQ(core->state(b), TaskState::Ready);
  complete(b);
  EXPECT_TRUE(core->drained());
}

TEST_F(Core, T06_FlagsAccumulate) {
  // Ownership, data and ordering edges to one producer count as one edge.
  float buffer[4] = {};
  ASSERT_TRUE(core->scopeBegin());
  TaskSpec producer = work();
  producer.allocate(4, {4}).output(Tensor::dense(buffer, 4, {4}));
  auto a = core->submit(producer);
  ASSERT_TRUE(a);
  TaskId b = submit(work().input(producer.outputs()[0]).inout(Tensor::dense(buffer, 4, {4})).after(*a));
  EXPECT_EQ(core->slotOf(b).faninCount, 1u);
  complete(*a);
  complete(b);
  ASSERT_TRUE(core->scopeEnd());
  EXPECT_TRUE(core->drained());
}

TEST_F(Core, T06_MoreThan64Producers) {
  Config wide = smallConfig();
  wide.window[0] = 256;
  start(wide);
  TaskSpec spec = work();
  std::vector<TaskId> ids;
  for (int i = 0; i < 200; ++i) {
    ids.push_back(submit(TaskSpec::barrier()));
    spec.after(ids.back());
  }
  TaskId last = submit(spec);
  for (TaskId id : ids)
    complete(id);
  EXPECT_EQ(core->state(last), TaskState::Ready);
}

TEST_F(Core, T06_CompletionDuringWiringInBothOrders) {
  // One thread completes tasks while another wires edges: each consumer becomes ready exactly once.
  int rounds = 3000 / kSlow;
  for (int round = 0; round < rounds; ++round) {
    TaskId a = submit(work());
    ready();
    std::atomic<bool> go{false};
    std::thread completer([&] {
      while (!go)
        ;
      complete(a);
    });
    go = true;
    TaskId b = submit(work().after(a));
    completer.join();
    ASSERT_EQ(ready(), Ids{b.value});
    complete(b);
    ASSERT_TRUE(core->drained());
  }
}

TEST_F(Core, T09_NestedEmptyAndMismatched) {
  ASSERT_TRUE(core->scopeBegin());
  ASSERT_TRUE(core->scopeBegin());
  ASSERT_TRUE(core->scopeEnd()); // empty
  TaskId outer = submit(work());
  ASSERT_TRUE(core->scopeBegin());
  TaskId inner = submit(work());
  EXPECT_EQ(outer.ring(), 1u); // the ring is selected by the scope depth
  EXPECT_EQ(inner.ring(), 2u);
  complete(inner);
  complete(outer);
  ASSERT_TRUE(core->scopeEnd());
  EXPECT_EQ(core->state(inner), TaskState::Consumed); // while the outer scope is still open
  EXPECT_EQ(core->state(outer), TaskState::Completed);
  EXPECT_EQ(core->ring(2)->watermark(), 2u);
  ASSERT_TRUE(core->scopeEnd());
  Status status = core->scopeEnd();
  ASSERT_FALSE(status);
  EXPECT_EQ(core->error().code, ErrorCode::ScopeMisuse);
}

TEST_F(Core, T09_DepthsBeyondTheRingsShareTheLast) {
  for (int depth = 1; depth <= 6; ++depth) {
    ASSERT_TRUE(core->scopeBegin());
    EXPECT_EQ(submit(work()).ring(), unsigned(std::min(depth, 3)));
  }
}

TEST_F(Core, T09_OutsideAnyScopeNothingIsHeld) {
  TaskId a = submit(work());
  EXPECT_EQ(a.ring(), 0u);
  complete(a);
  EXPECT_EQ(core->state(a), TaskState::Consumed);
}

TEST_F(Core, T10_FailedProducerPoisonsTheChainButNotItsSiblings) {
  TaskId a = submit(work()), sibling = submit(work());
  TaskId b = submit(work().after(a)), c = submit(work().after(b).after(sibling));
  ready();
  complete(a, true);
  EXPECT_EQ(ready(), Ids{b.value}); // completes without running
  EXPECT_TRUE(core->slotOf(b).failed);
  complete(b);
  complete(sibling);
  EXPECT_TRUE(core->slotOf(c).failed);
  EXPECT_FALSE(core->slotOf(sibling).failed);
  complete(c);
  EXPECT_TRUE(core->drained());
  RunError error = core->error();
  EXPECT_EQ(error.code, ErrorCode::KernelFailed);
  EXPECT_EQ(error.message, "task 1 ('work') failed on VECTOR core 0: as the test wants");
  EXPECT_EQ(core->statistics().failed, 3u);
}

TEST_F(Core, T10_FailureWhileWiringInBothOrders) {
  for (int round = 0; round < 1000 / kSlow; ++round) {
    core->beginRun();
    TaskId a = submit(work());
    ready();
    std::thread completer([&] { complete(a, true); });
    TaskId b = submit(work().after(a));
    completer.join();
    ASSERT_TRUE(core->slotOf(b).failed) << round;
    ASSERT_EQ(ready(), Ids{b.value});
    complete(b);
    ASSERT_TRUE(core->drained());
  }
}

TEST_F(Core, T10_AFailureReachesReadersLongAfterItsTaskIsGone) {
  float buffer[8] = {}, other[8] = {};
  Tensor bad = Tensor::dense(buffer, 4, {8}), good = Tensor::dense(other, 4, {8});
  TaskId a = submit(work().output(bad));
  complete(a, true);
  for (uint32_t i = 0; i < 3 * config.window[0]; ++i)
    complete(submit(work().output(good)));
  TaskId reader = submit(work().input(bad.slice(0, 2, 1)));
  EXPECT_TRUE(core->slotOf(reader).failed);
  TaskId ordered = submit(work().after(a));
  EXPECT_TRUE(core->slotOf(ordered).failed);
  TaskId writer = submit(work().output(bad)); // does not depend on the failed task
  EXPECT_FALSE(core->slotOf(writer).failed);
  for (TaskId id : {reader, ordered, writer})
    complete(id);
  TaskId second = submit(work().input(bad));
  EXPECT_FALSE(core->slotOf(second).failed);
  complete(second);
}

TEST_F(Core, T10_OrderingEdgesDoNotSpreadFailures) {
  float buffer[8] = {};
  Tensor tensor = Tensor::dense(buffer, 4, {8});
  TaskId writer = submit(work().output(tensor));
  TaskId reader = submit(work().input(tensor));
  TaskId next = submit(work().output(tensor));
  complete(writer, true);
  complete(reader);
  EXPECT_EQ(core->state(next), TaskState::Ready);
  EXPECT_FALSE(core->slotOf(next).failed);
}

TEST_F(Core, T10_KernelsCannotSubmit) {
  auto runtime = make(smallConfig());
  std::string error;
  KernelId nested = add(*runtime, "nested", [&](KernelCall &) {
    auto id = runtime->submit(TaskSpec::barrier());
    error = id ? "none" : id.error();
  });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) { tasks::submit(run, TaskSpec(nested)); }));
  EXPECT_THAT(error, HasSubstr("a kernel can neither submit tasks nor wait"));
}

TEST(Configuration, T10_WrongNumbersAreNamed) {
  auto error = [](std::function<void(Config &)> change) {
    Config config;
    change(config);
    auto runtime = TaskRuntime::create(config);
    return runtime ? std::string("none") : runtime.error();
  };
  EXPECT_THAT(error([](Config &c) { c.window[2] = 48; }), HasSubstr("window[2] is 48, expected a power of two"));
  EXPECT_THAT(error([](Config &c) { c.window[0] = 0; }), HasSubstr("window[0] is 0"));
  EXPECT_THAT(error([](Config &c) { c.heapBytes[1] = 100; }),
              HasSubstr("heapBytes[1] is 100, expected a multiple of 64"));
  EXPECT_THAT(error([](Config &c) { c.cores = {0, 0, 0, 0}; }), HasSubstr("no core at all"));
  EXPECT_THAT(error([](Config &c) { c.cores[1] = 1000; }), HasSubstr("cores[1] is 1000, at most 256"));
  EXPECT_THAT(error([](Config &c) { c.dependencyEntries = 0; }), HasSubstr("dependencyEntries is 0"));
  EXPECT_THAT(error([](Config &c) { c.maxScopeDepth = 0; }), HasSubstr("maxScopeDepth is 0"));
  EXPECT_THAT(error([](Config &c) { c.firstTask = 0; }), HasSubstr("firstTask"));
}

TEST(Lifecycle, T11_ManyRunsManyRuntimesAndStopWithQueuedWork) {
  for (int round = 0; round < 20 / (kSlow > 1 ? 4 : 1); ++round) {
    std::atomic<int> ran{0}; // kernels may still run while the runtime is destroyed, so their state must outlive it
    std::atomic<bool> block{true};
    auto runtime = make(smallConfig());
    KernelId work = add(*runtime, "work", [&](KernelCall &) { ++ran; });
    KernelId wait = add(*runtime, "wait", [&](KernelCall &) {
      while (block)
        std::this_thread::yield();
    });
    for (int run = 0; run < 3; ++run)
      EXPECT_OK(runtime->run([&](TaskRuntime &r) { submit(r, TaskSpec(work)); }));
    EXPECT_EQ(ran, 3);
    Status status = runtime->run([&](TaskRuntime &r) {
      TaskId first = submit(r, TaskSpec(wait));
      for (int i = 0; i < 20; ++i)
        submit(r, TaskSpec(work).after(first));
      r.cancel();
      block = false;
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error(), "the run was cancelled");
    EXPECT_EQ(ran, 3);
    EXPECT_OK(runtime->run([&](TaskRuntime &r) { submit(r, TaskSpec(work)); }));
    EXPECT_EQ(ran, 4);
    if (round % 2) {
      EXPECT_OK(runtime->begin()); // destroyed during a run
      submit(*runtime, TaskSpec(work));
    }
  }
}

TEST(Lifecycle, T11_OrderOfCallsIsChecked) {
  auto runtime = make(smallConfig());
  EXPECT_FALSE(runtime->finish());
  EXPECT_OK(runtime->begin());
  EXPECT_FALSE(runtime->begin());
  auto late = runtime->registerKernel("late", [](KernelCall &) {});
  ASSERT_FALSE(late);
  EXPECT_THAT(late.error(), HasSubstr("between runs"));
  EXPECT_OK(runtime->finish());
  EXPECT_FALSE(runtime->registerKernel("none", nullptr));
  EXPECT_THROW((void)runtime->run([](TaskRuntime &) { throw std::runtime_error("orchestrator"); }), std::runtime_error);
  EXPECT_OK(runtime->begin());
  EXPECT_OK(runtime->finish());
}

TEST(Lifecycle, T11_HandshakeShowsEveryCore) {
  for (Mode mode : {Mode::Threads, Mode::VirtualTime}) {
    Config config = smallConfig();
    config.mode = mode;
    config.cores = {2, 3, 1, 1};
    auto runtime = make(config);
    KernelId work = add(*runtime, "work", [](KernelCall &) {});
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      for (int i = 0; i < 30; ++i)
        submit(run, TaskSpec(work, WorkerKind(i % 4)));
    }));
    std::vector<HandshakeRecord> rows = runtime->handshake();
    ASSERT_EQ(rows.size(), 7u);
    uint64_t tasks = 0;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].core, i);
      EXPECT_EQ(rows[i].aicpuReady, 1u);
      EXPECT_EQ(rows[i].aicoreDone, i + 1); // never 0
      EXPECT_EQ(rows[i].control, 0u);
      EXPECT_EQ(rows[i].taskStatus, 0u);
      tasks += rows[i].tasks;
    }
    EXPECT_EQ(rows[2].kind, WorkerKind::Vector);
    EXPECT_EQ(tasks, 30u);
  }
}

} // namespace
} // namespace pto_mlir::tasks
