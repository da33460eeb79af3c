// Absence of false sharing, and visibility of races to the thread sanitizer.
#include "Harness.h"
#include "Mailbox.h"
#include "Parker.h"
#include "pto_mlir/TaskRuntime/ReadyQueue.h"
#include "pto_mlir/TaskRuntime/TaskRing.h"

#include <atomic>
#include <set>
#include <thread>

namespace pto_mlir::tasks {
namespace {

/// The cache lines occupied by these objects.
template <class... Objects> std::set<uintptr_t> lines(const Objects &...objects) {
  std::set<uintptr_t> result;
  auto add = [&](uintptr_t address, size_t bytes) {
    for (uintptr_t line = address / 64; line <= (address + bytes - 1) / 64; ++line)
      result.insert(line);
  };
  (add(reinterpret_cast<uintptr_t>(&objects), sizeof(objects)), ...);
  return result;
}

void expectApart(const std::set<uintptr_t> &a, const std::set<uintptr_t> &b) {
  for (uintptr_t line : a)
    EXPECT_EQ(b.count(line), 0u);
}

TEST(Sharing, H26_SidesOfAMailboxAndNeighbouringMailboxes) {
  Mailbox boxes[2];
  const Mailbox &box = boxes[0];
  auto control = lines(box.request, box.payload, box.dispatched);
  auto core = lines(box.reply, box.started, box.failed, box.cause, box.start, box.end);
  auto scheduler = lines(box.collected);
  expectApart(control, core);
  expectApart(control, scheduler);
  expectApart(core, scheduler);
  expectApart(lines(boxes[0]), lines(boxes[1]));
  // Fields that a core reads for every task are not on cache lines that the scheduler writes.
  expectApart(lines(box.kind, box.core, box.owner), scheduler);
}

TEST(Sharing, H26_SlotsQueuesAndSleepers) {
  TaskSlot slots[2];
  expectApart(lines(slots[0]), lines(slots[1]));
  // The fields accessed when a task without a kernel ends are on one cache line.
  const TaskSlot &slot = slots[0];
  EXPECT_EQ(lines(slot.word, slot.faninLeft, slot.references, slot.fanoutHead, slot.blocksLeft, slot.failed,
                  slot.faninHead, slot.kernel, slot.heapEnd, slot.poolEnd)
                .size(),
            1u);
  // The cells, and one cache line for each end of the queue.
  EXPECT_EQ(alignof(ReadyQueue), 64u);
  EXPECT_EQ(sizeof(ReadyQueue), 3 * 64u);
  Parker parkers[2];
  expectApart(lines(parkers[0]), lines(parkers[1]));
}

TEST(Sharing, H26_OutputsOfTasksShareNoLine) {
  auto runtime = make(smallConfig());
  uint64_t addresses[3];
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    EXPECT_OK(run.scopeBegin());
    TaskSpec first = TaskSpec::barrier(), second = TaskSpec::barrier();
    submit(run, first.allocate(1, {1}).allocate(1, {1}));
    submit(run, second.allocate(1, {1}));
    addresses[0] = first.outputs()[0].address;
    addresses[1] = first.outputs()[1].address;
    addresses[2] = second.outputs()[0].address;
  }));
  EXPECT_NE(addresses[0] / 64, addresses[1] / 64);
  EXPECT_NE(addresses[0] / 64, addresses[2] / 64);
  EXPECT_NE(addresses[1] / 64, addresses[2] / 64);
}

/// Two kernels write an unsynchronised word, ordered by an edge or concurrently.
void writeOneWord(bool ordered) {
  static int word; // static, because the sanitizer may lose track of stack memory
  std::atomic<int> started{0};
  auto runtime = make(smallConfig());
  KernelId write = add(*runtime, "write", [&](KernelCall &call) {
    // Relaxed: makes both kernels overlap without ordering them.
    started.fetch_add(1, std::memory_order_relaxed);
    while (!ordered && started.load(std::memory_order_relaxed) < 2)
      std::this_thread::yield();
    word = int(call.args[0]);
  });
  EXPECT_OK(runtime->run([&](TaskRuntime &run) {
    TaskSpec first(write), second(write);
    TaskId id = submit(run, first.scalar(1));
    second.scalar(2);
    submit(run, ordered ? second.after(id) : second);
  }));
  EXPECT_TRUE(word == 1 || word == 2);
  if (ordered)
    EXPECT_EQ(word, 2);
}

TEST(Sharing, H27_AnEdgeOrdersWhatKernelsWrite) {
  for (int i = 0; i < 50; ++i)
    writeOneWord(true);
}

TEST(Sharing, ATaskThatTwoThreadsPollForRunsOnce) {
  constexpr uint64_t kTasks = 100000 / kSlow;
  Mailbox box;
  std::atomic<uint64_t> runs{0}, wrong{0};
  auto poll = [&] {
    while (box.reply.load(std::memory_order_acquire) != kTasks)
      if (uint64_t request = box.claim()) {
        wrong += box.payload.task != request;
        ++runs;
        box.reply.store(request, std::memory_order_release);
      }
  };
  std::thread first(poll), second(poll);
  for (uint64_t task = 1; task <= kTasks; ++task) {
    box.payload.task = task;
    box.request.store(task, std::memory_order_release);
    while (box.reply.load(std::memory_order_acquire) != task && wrong == 0)
      std::this_thread::yield();
    if (wrong != 0)
      box.reply.store(kTasks, std::memory_order_release);
  }
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(runs, kTasks);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The synchronisation of the runtime must not order kernels without an edge, or the sanitizer could not see their race.
TEST(Sharing, H27_TheThreadSanitizerSeesARaceBetweenKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The sanitizer misses the race if both writes happen simultaneously.
  EXPECT_EXIT(
      {
        for (int i = 0; i < 30; ++i)
          writeOneWord(false);
        std::exit(0);
      },
      ::testing::ExitedWithCode(66), "data race");
}
#endif
#endif

} // namespace
} // namespace pto_mlir::tasks
