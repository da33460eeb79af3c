#include "Harness.h"

#include <atomic>
#include <numeric>
#include <thread>

namespace pto_mlir::tasks {
namespace {

TEST(ReadyQueue, T01_EmptyFullAndOrder) {
  ReadyQueue queue(4);
  uint64_t value = 7;
  EXPECT_FALSE(queue.pop(value));
  EXPECT_EQ(value, 7u);
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_TRUE(queue.push(i));
  EXPECT_FALSE(queue.push(9));
  EXPECT_EQ(queue.size(), 4u);
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(queue.pop(value));
    EXPECT_EQ(value, i);
  }
  EXPECT_FALSE(queue.pop(value));
  EXPECT_TRUE(queue.push(11)); // refill after draining
  ASSERT_TRUE(queue.pop(value));
  EXPECT_EQ(value, 11u);
  EXPECT_EQ(ReadyQueue(5).capacity(), 8u);
}

TEST(ReadyQueue, T01_Batches) {
  ReadyQueue queue(8);
  uint64_t in[9], out[9] = {};
  std::iota(in, in + 9, 100);
  EXPECT_TRUE(queue.pushAll(in, 0));
  EXPECT_EQ(queue.popSome(out, 8), 0u);
  EXPECT_FALSE(queue.pushAll(in, 9)); // larger than the queue
  EXPECT_TRUE(queue.pushAll(in, 6));
  EXPECT_FALSE(queue.pushAll(in, 3)); // does not fit as a whole, so nothing is pushed
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_EQ(queue.popSome(out, 4), 4u);
  EXPECT_EQ(out[3], 103u);
  EXPECT_TRUE(queue.pushAll(in, 6)); // wraps around
  EXPECT_EQ(queue.popSome(out, 9), 8u);
  EXPECT_EQ(out[1], 105u);
  EXPECT_EQ(out[2], 100u);
}

TEST(ReadyQueue, T01_ManyWrapsKeepIdsWhole) {
  ReadyQueue queue(4);
  for (uint64_t i = 0; i < 10000; ++i) {
    TaskId id = TaskId::make(3, (uint64_t(1) << 40) + i);
    ASSERT_TRUE(queue.push(id.value));
    uint64_t value;
    ASSERT_TRUE(queue.pop(value));
    ASSERT_EQ(TaskId{value}.ring(), 3u);
    ASSERT_EQ(TaskId{value}.local(), (uint64_t(1) << 40) + i);
  }
}

TEST(ReadyQueue, T01_NothingIsLostOrDoubledBetweenThreads) {
  constexpr int threads = 3;
  const uint64_t each = 60000 / kSlow;
  ReadyQueue queue(64);
  std::vector<std::atomic<uint8_t>> seen(threads * each);
  std::atomic<uint64_t> popped{0};
  std::atomic<bool> disorder{false};
  std::vector<std::thread> all;
  all.reserve(threads);
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (uint64_t i = 0; i < each;) {
        uint64_t batch[3] = {t * each + i, t * each + i + 1, t * each + i + 2};
        size_t count = std::min<uint64_t>(1 + i % 3, each - i);
        if (queue.pushAll(batch, count))
          i += count;
        else
          std::this_thread::yield();
      }
    });
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      std::vector<uint64_t> last(threads, 0);
      while (popped < threads * each) {
        uint64_t values[4];
        size_t count = queue.popSome(values, 4);
        if (count == 0)
          std::this_thread::yield();
        for (size_t i = 0; i < count; ++i) {
          // Elements of one producer are popped in their order.
          uint64_t producer = values[i] / each, number = values[i] % each + 1;
          if (number <= last[producer])
            disorder = true;
          last[producer] = number;
          ++seen[values[i]];
        }
        popped += count;
        if (queue.size() > queue.capacity())
          disorder = true;
      }
    });
  for (std::thread &thread : all)
    thread.join();
  EXPECT_FALSE(disorder);
  for (auto &count : seen)
    ASSERT_EQ(count, 1);
}

} // namespace
} // namespace pto_mlir::tasks
