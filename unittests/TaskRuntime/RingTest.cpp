// Slots, heap, pools and the watermark, without runtime threads.
#include "Harness.h"

#include <climits>
#include <thread>

namespace pto_mlir::tasks {
namespace {

void setState(TaskRing &ring, uint64_t local, TaskState state) {
  ring.slot(local).word = TaskSlot::makeWord(local, state);
}

TEST(TaskRing, T02_SlotsFollowIdsAndTheWindowSaturates) {
  TaskRing ring(8, 0, 1024, 16, 1);
  for (uint64_t local = 1; local <= 8; ++local) {
    ASSERT_TRUE(ring.hasSlot());
    EXPECT_EQ(ring.next(), local);
    ring.take();
    setState(ring, local, TaskState::Pending);
  }
  EXPECT_FALSE(ring.hasSlot());
  EXPECT_EQ(&ring.slot(1), &ring.slot(9)); // id & (window - 1)
  EXPECT_NE(&ring.slot(1), &ring.slot(8));
  setState(ring, 1, TaskState::Consumed);
  EXPECT_TRUE(ring.advance());
  EXPECT_TRUE(ring.hasSlot());
}

TEST(TaskRing, T02_IdsPassTheRangeOf32Bits) {
  Config config = smallConfig();
  config.mode = Mode::VirtualTime;
  config.firstTask = uint64_t(INT32_MAX) - 50;
  for (int pass = 0; pass < 2; ++pass, config.firstTask = (uint64_t(1) << 32) - 50) {
    auto runtime = make(config);
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      TaskId last;
      for (int i = 0; i < 200; ++i) {
        TaskSpec spec = TaskSpec::barrier();
        if (last)
          spec.after(last);
        last = submit(run, spec);
      }
      EXPECT_EQ(last.local(), config.firstTask + 199);
      EXPECT_EQ(toString(last), std::to_string(config.firstTask + 199));
    }));
    EXPECT_EQ(runtime->statistics().completed, 200u);
  }
}

TEST(HeapRing, T03_AlignmentZeroAndTooLarge) {
  HeapRing heap(1024);
  auto first = heap.find(1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->end - first->begin, kOutputAlignment);
  heap.commit(*first);
  auto second = heap.find(65);
  EXPECT_EQ(second->begin % kOutputAlignment, 0u);
  EXPECT_EQ(second->end - second->begin, 128u);
  auto nothing = heap.find(0);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->begin, nothing->end);
  EXPECT_FALSE(heap.couldFit(1025));
  EXPECT_FALSE(heap.couldFit(~uint64_t(0))); // rounding up would overflow
  EXPECT_FALSE(heap.find(1025));
}

TEST(HeapRing, T03_ExactFitWrapAndTheGap) {
  HeapRing heap(1024);
  HeapRing::Block a = *heap.find(512), b;
  heap.commit(a);
  b = *heap.find(512); // exactly to the end
  heap.commit(b);
  EXPECT_EQ(heap.used(), 1024u);
  EXPECT_FALSE(heap.find(64)); // full is not empty
  heap.retire(a.end);
  auto c = heap.find(256);
  ASSERT_TRUE(c);
  EXPECT_EQ(heap.offset(c->begin), 0u);
  heap.commit(*c);
  auto d = heap.find(256);
  ASSERT_TRUE(d); // up to the tail, not past it
  heap.commit(*d);
  EXPECT_FALSE(heap.find(64));
  heap.retire(b.end);
  // 512 bytes are free at offset 512; a block of 640 would straddle the end, and everything else is in use.
  EXPECT_FALSE(heap.find(640));
  EXPECT_TRUE(heap.find(512));
}

TEST(HeapRing, T03_SkippedBytesAtTheEndCount) {
  HeapRing heap(1024);
  HeapRing::Block a = *heap.find(704);
  heap.commit(a);
  EXPECT_FALSE(heap.find(384)); // 320 left at the end, nothing at the front
  heap.retire(a.end);
  auto b = heap.find(384);
  ASSERT_TRUE(b);
  EXPECT_EQ(heap.offset(b->begin), 0u);
  heap.commit(*b);
  EXPECT_EQ(heap.used(), 384u); // the ring was empty: the skipped bytes are not accounted to a task
}

TEST(HeapRing, T03_EmptyRebaseIgnoresOlderEnds) {
  HeapRing heap(1536);
  HeapRing::Block scratch = *heap.find(1024);
  heap.commit(scratch);
  HeapRing::Block zero = *heap.find(0); // a task without outputs, still live
  heap.retire(scratch.end);
  auto again = heap.find(1024);
  ASSERT_TRUE(again);
  heap.commit(*again);
  EXPECT_EQ(heap.used(), 1024u);
  heap.retire(zero.end); // the older task retires later
  EXPECT_EQ(heap.used(), 1024u);
  EXPECT_FALSE(heap.find(1024));
  heap.retire(again->end);
  heap.retire(again->end);
  heap.retire(scratch.end);
  EXPECT_EQ(heap.used(), 0u);
}

TEST(DependencyPool, T04_SentinelWrapHighWater) {
  DependencyPool pool(4);
  EXPECT_TRUE(pool.hasRoom(4));
  EXPECT_FALSE(pool.hasRoom(5));
  for (uint32_t i = 1; i <= 4; ++i)
    EXPECT_EQ(pool.allocate(), i); // 0 is the sentinel
  EXPECT_FALSE(pool.hasRoom(1));
  pool.retire(2);
  EXPECT_TRUE(pool.hasRoom(2));
  EXPECT_EQ(pool.allocate(), 1u); // wraps past the sentinel
  EXPECT_EQ(pool.allocate(), 2u);
  EXPECT_FALSE(pool.hasRoom(1));
  pool.retire(1); // the tail is monotonic
  EXPECT_FALSE(pool.hasRoom(1));
  EXPECT_EQ(pool.highWater(), 4u);
  pool.retire(6);
  EXPECT_EQ(pool.used(), 0u);
}

TEST(DependencyPool, T04_ListsStayWholeOverManyWraps) {
  // 20 producers per task through a pool of 64 entries: every list wraps, spills and is reused.
  for (Mode mode : {Mode::VirtualTime, Mode::Threads}) {
    Config config = smallConfig();
    config.mode = mode;
    config.dependencyEntries = 64;
    auto runtime = make(config);
    std::vector<std::atomic<int>> done(20);
    std::atomic<int> wrong{0};
    KernelId produce = add(*runtime, "produce", [&](KernelCall &call) { ++done[call.args[0]]; });
    KernelId check = add(*runtime, "check", [&](KernelCall &call) {
      for (auto &count : done)
        wrong += count != int(call.args[0]);
    });
    int rounds = 300 / kSlow;
    EXPECT_OK(runtime->run([&](TaskRuntime &run) {
      TaskId last;
      for (int round = 0; round < rounds; ++round) {
        TaskSpec join(check);
        join.scalar(uint64_t(round + 1));
        for (uint64_t i = 0; i < 20; ++i) {
          TaskSpec spec(produce);
          spec.scalar(i);
          if (last)
            spec.after(last);
          join.after(submit(run, spec));
        }
        last = submit(run, join);
      }
    }));
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(runtime->statistics().peakEntries[0], 64u);
  }
}

TEST(TaskRing, T07_WatermarkStopsAtTheFirstThatIsNotConsumed) {
  TaskRing ring(8, 0, 1024, 16, 1);
  for (uint64_t local = 1; local <= 5; ++local) {
    ring.take();
    setState(ring, local, local == 3 ? TaskState::Completed : TaskState::Consumed);
    ring.slot(local).heapEnd = local * 64;
  }
  ring.heap().commit(*ring.heap().find(5 * 64));
  EXPECT_TRUE(ring.advance());
  EXPECT_EQ(ring.watermark(), 3u);
  EXPECT_EQ(ring.heap().used(), 3 * 64u); // the heap is freed up to the watermark
  EXPECT_FALSE(ring.advance());
  setState(ring, 3, TaskState::Consumed);
  EXPECT_TRUE(ring.advance());
  EXPECT_EQ(ring.watermark(), 6u);
  EXPECT_EQ(ring.live(), 0u);
}

TEST(TaskRing, T07_AnEarlierTaskOfTheSlotIsNotTakenForTheNewOne) {
  // The id is allocated, while the slot is still CONSUMED for the previous task: an advance at this point must stop.
  TaskRing ring(2, 0, 1024, 16, 1);
  for (uint64_t local = 1; local <= 2; ++local) {
    ring.take();
    setState(ring, local, TaskState::Consumed);
  }
  EXPECT_TRUE(ring.advance());
  ring.take(); // task 3, slot 1: its word is still {1, CONSUMED}
  EXPECT_FALSE(ring.advance());
  EXPECT_EQ(ring.watermark(), 3u);
  setState(ring, 3, TaskState::Pending);
  EXPECT_FALSE(ring.advance());
  setState(ring, 3, TaskState::Consumed);
  EXPECT_TRUE(ring.advance());
  EXPECT_EQ(ring.watermark(), 4u);
}

TEST(TaskRing, T07_ContendedAdvanceLosesNothing) {
  constexpr int threads = 4;
  const uint64_t count = 8000 / kSlow;
  TaskRing ring(8192, 0, 1024, 16, 1);
  for (uint64_t local = 1; local <= count; ++local) {
    ring.take();
    setState(ring, local, TaskState::Completed);
  }
  std::vector<std::thread> all;
  all.reserve(threads);
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (uint64_t local = 1 + uint64_t(t); local <= count; local += threads) {
        ring.slot(local).word.store(TaskSlot::makeWord(local, TaskState::Consumed));
        if (ring.watermark() == local)
          ring.advance();
      }
    });
  for (std::thread &thread : all)
    thread.join();
  EXPECT_EQ(ring.watermark(), count + 1);
}

} // namespace
} // namespace pto_mlir::tasks
