#include "Memory/GlobalMemory.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

using namespace pto_mlir::cmodel;

namespace {

// A host program makes tensors while the tasks before them look up their arguments.
TEST(GlobalMemory, IsReadWhileAnotherThreadAllocates) {
  GlobalMemory memory;
  uint64_t kept = memory.allocate(1024);
  std::thread host([&] {
    for (int round = 0; round < 50; ++round) {
      std::vector<uint64_t> made;
      for (int i = 0; i < 40; ++i)
        made.push_back(memory.allocate(512));
      for (uint64_t address : made)
        EXPECT_TRUE(memory.release(address));
    }
  });
  for (int i = 0; i < 20000; ++i)
    ASSERT_TRUE(memory.contains(kept, 1024)) << i;
  host.join();
}

} // namespace
