#include "Machine/ThreadPool.h"

#include <gtest/gtest.h>

using namespace pto_mlir::cmodel;

namespace {

TEST(ThreadPool, EveryTaskOnceAndEachWorkerOneAtATime) {
  for (unsigned workers : {1u, 2u, 5u}) {
    ThreadPool pool(workers);
    for (uint32_t count : {0u, 1u, 2u, 3u, 7u, 100u}) {
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<std::atomic<int>> done(count), busy(workers);
        pool.run(count, [&](unsigned worker, uint32_t index) {
          EXPECT_EQ(busy[worker].fetch_add(1), 0);
          ++done[index];
          busy[worker].fetch_sub(1);
        });
        for (auto &d : done)
          ASSERT_EQ(d.load(), 1);
      }
    }
  }
}

} // namespace
